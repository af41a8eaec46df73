"""Advisories: which versions a record affects, compared with OSV's own algorithm over a small set of versions."""

from __future__ import annotations

import nodesemver
import pytest
from hypothesis import given
from hypothesis import strategies as st
from packaging.specifiers import SpecifierSet
from packaging.version import Version

from examples import examples
from repertoire.ingestion.advisories import AFFECTED, NPM, POSSIBLE, PYPI, affected_packages, judge

# in order, oldest first; so the oracle compares places in this list and knows nothing of versions
WORLD = {
    PYPI: ["0.9", "1.0a1", "1.0", "1.0.post1", "1.1", "1.9", "1.10", "2.0rc1", "2.0", "2.0.1"],
    NPM: ["0.9.0", "1.0.0-alpha", "1.0.0-beta.2", "1.0.0-beta.11", "1.0.0", "1.2.0", "1.10.0", "2.0.0-rc.1", "2.0.0"],
}
RANGES = {
    PYPI: [">=1.0", "<1.1", ">1.0,<2.0", "~=1.1", "!=1.0", "==1.*", ">2.0"],
    NPM: ["^1.0.0", "~1.2.0", ">=1.0.0 <2.0.0", ">2.0.0", "<1.2.0", "1.x", "^0.9.0 || ^2.0.0"],
}
KINDS = ("introduced", "fixed", "last_affected", "limit")


@st.composite
def records(draw):
    """Draw an ecosystem, the events of some ranges, and a list of versions."""
    ecosystem = draw(st.sampled_from([PYPI, NPM]))
    # one kind of event at a version: what two at one mean is not said
    ranges = draw(
        st.lists(st.dictionaries(st.sampled_from(["0", *WORLD[ecosystem]]), st.sampled_from(KINDS)), max_size=2)
    )
    ranges = [{at: ("introduced" if at == "0" else kind) for at, kind in drawn.items()} for drawn in ranges]
    return ecosystem, ranges, draw(st.lists(st.sampled_from(WORLD[ecosystem]), max_size=3))


def concern(ecosystem, ranges, versions):
    kind = "SEMVER" if ecosystem == NPM else "ECOSYSTEM"
    listed = [{"type": kind, "events": [{kind: at} for at, kind in drawn.items()]} for drawn in ranges]
    entry = {"package": {"name": "p", "ecosystem": ecosystem}, "ranges": listed, "versions": versions}
    (found,) = affected_packages({"id": "X", "affected": [entry]})
    return found


def affected(ecosystem, ranges, versions, version):
    """Say what OSV's schema says, word by word."""
    place = {name: number for number, name in enumerate(["0", *WORLD[ecosystem]])}
    if version in versions:
        return True
    for drawn in ranges:
        limits = [at for at, kind in drawn.items() if kind == "limit"]
        if limits and not any(place[version] < place[limit] for limit in limits):
            continue
        vulnerable = False
        for at, kind in sorted(drawn.items(), key=lambda event: place[event[0]]):
            if kind == "introduced" and place[version] >= place[at]:
                vulnerable = True
            elif (kind == "fixed" and place[version] >= place[at]) or (
                kind == "last_affected" and place[version] > place[at]
            ):
                vulnerable = False
        if vulnerable:
            return True
    return False


@examples(25)
@given(records())
def test_an_exact_version_is_affected_as_the_schema_says(drawn):
    found = concern(*drawn)
    for version in WORLD[drawn[0]]:
        pinned = f"@{version}" if drawn[0] == NPM else f"=={version}"
        said = judge(found, pinned)[0]

        assert said == (AFFECTED if affected(*drawn, version) else ""), version


@examples(25)
@given(records(), st.data())
def test_a_range_that_admits_an_affected_version_is_never_called_certain_and_never_missed(drawn, data):
    ecosystem = drawn[0]
    wanted = data.draw(st.sampled_from(RANGES[ecosystem]))
    admits = [version for version in WORLD[ecosystem] if allowed(ecosystem, version, wanted)]

    said, version = judge(concern(*drawn), f"@{wanted}" if ecosystem == NPM else wanted)

    assert said in ("", POSSIBLE)
    if any(affected(*drawn, version) for version in admits):
        assert said == POSSIBLE
    if version in WORLD[ecosystem]:
        assert version in admits
        assert affected(*drawn, version)


def allowed(ecosystem, version, wanted):
    if ecosystem == NPM:
        return nodesemver.satisfies(version, wanted, loose=True)
    return SpecifierSet(wanted).contains(Version(version), prereleases=True)


@pytest.mark.parametrize(("one", "other"), [("1.0", "1.0.0"), ("1.0.0", "1"), ("1.0-1", "1.0.post1")])
def test_a_listed_version_is_met_however_it_is_written(one, other):
    assert judge(concern(PYPI, [], [one]), f"=={other}")[0] == AFFECTED


@pytest.mark.parametrize("wanted", ["@1.2", "@1", "@1.x"])
def test_less_than_three_numbers_are_a_range_in_npm(wanted):
    assert judge(concern(NPM, [{"1.0.0": "introduced"}], []), wanted)[0] == POSSIBLE


def test_what_is_affected_from_a_pre_release_on_is_in_ranges_that_hold_no_pre_release():
    assert judge(concern(NPM, [{"1.0.0-alpha": "introduced"}], []), "@<1.2.0") == (POSSIBLE, "1.0.0")


def test_a_limit_of_everything_limits_nothing():
    assert judge(concern(NPM, [{"1.0.0": "introduced", "*": "limit"}], []), "@1.5.0")[0] == AFFECTED
