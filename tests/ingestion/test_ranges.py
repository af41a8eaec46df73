"""Version ranges: two that are disjoint are told from two that only look disjoint."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from packaging.specifiers import SpecifierSet

from repertoire.ingestion.ranges import disjoint

SPECIFIERS = st.builds(
    lambda sign, major, minor: f"{sign}{major}.{minor}",
    st.sampled_from((">=", "<=", "<", ">", "==", "!=", "~=")),
    st.integers(0, 3),
    st.integers(0, 3),
)
RANGES = st.lists(SPECIFIERS, min_size=1, max_size=3).map(",".join)
VERSIONS = [f"{major}.{minor}.{patch}" for major in range(6) for minor in range(6) for patch in range(3)]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (">=3", "<3"),
        ("==2.31.0", ">=3"),
        ("~=1.4", ">=2"),
        (">=2,<3", ">=3.1"),
        (">1", "<=1"),
        ("^18", "^20"),
        (">=18", "^16"),
        ("@1.2.3", "@1.2.4"),
        ("==1.2.*", "==1.3.*"),
    ],
)
def test_ranges_that_exclude_each_other_are_apart(one: str, other: str) -> None:
    assert disjoint(one, other)
    assert disjoint(other, one)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (">=3", "<=3"),
        (">=2", "<3"),
        (">2.30", "<2.31"),
        ("~=1.4", "!=1.4.0"),
        ("^18", ">=18.2"),
        ("", "<3"),
        (">=3", ""),
        (">=3", "latest"),
        ("!=1", "!=2"),
        ("^1", "==one"),
        (">=1" + ",!=1" * 60, "<1"),
    ],
)
def test_ranges_that_have_a_version_in_common_or_cannot_be_read_are_not(one: str, other: str) -> None:
    assert not disjoint(one, other)


@given(RANGES, RANGES)
def test_what_is_said_to_be_apart_holds_no_version_together_and_what_is_not_does(one: str, other: str) -> None:
    both = SpecifierSet(f"{one},{other}")
    assert disjoint(one, other) is not any(both.contains(version) for version in VERSIONS)
