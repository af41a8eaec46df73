"""A release shows nothing of fewer members than the floor, and no two releases differ by fewer."""

from __future__ import annotations

from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from repertoire.learning.shared_use import (
    FLOOR,
    NOTHING,
    STEP,
    Components,
    MemberReport,
    TeamUse,
    is_due,
    merge_statistics,
    release,
)

NAMES = [f"component {number}" for number in range(6)]
SETS = st.frozensets(st.sampled_from(NAMES), max_size=4)
TEAMS = st.lists(SETS, max_size=16)


def counted(team: list[Components]) -> list[MemberReport]:
    """Return the reports of a team just after a release."""
    return [MemberReport(one, one) for one in team]


@given(TEAMS)
def test_what_is_told_is_used_by_the_floor_at_least_and_rounded_down(team: list[Components]):
    users = Counter(component for one in team for component in one)
    told = release(MemberReport(one) for one in team)
    assert set(told) == {component for component, count in users.items() if count >= FLOOR}
    assert all(users[name] - STEP < count <= users[name] and count % STEP == 0 for name, count in told.items())


@given(TEAMS, SETS)
def test_a_member_below_the_floor_joins_or_leaves_without_a_trace(team: list[Components], member: Components):
    users = Counter(component for one in [*team, member] for component in one)
    unseen = frozenset(component for component in member if users[component] < FLOOR)
    without, beside = release(map(MemberReport, team)), release(map(MemberReport, [*team, unseen]))
    assert without == beside
    # and after the first release whatever a single member brings, takes away or changes shows nothing
    for report in (MemberReport(member), MemberReport(NOTHING, member), MemberReport(NOTHING, None)):
        assert not is_due([*counted(team), report])


@given(TEAMS, st.lists(st.tuples(SETS, st.none() | SETS), max_size=FLOOR - 1))
def test_fewer_than_the_floor_change_nothing_however_they_act_together(
    team: list[Components], changed: list[tuple[Components, Components | None]]
):
    assert not is_due([*counted(team), *(MemberReport(now, before) for now, before in changed)])


@given(TEAMS, TEAMS)
def test_two_releases_are_as_far_apart_as_the_reports_of_the_floor_of_members(
    before: list[Components], after: list[Components]
):
    size = max(len(before), len(after))
    padded = [(*pair,) for pair in zip(_filled(before, size), _filled(after, size), strict=True)]
    reports = [MemberReport(now, then) for then, now in padded]
    assert is_due(reports) == (sum(then != now for then, now in padded) >= FLOOR)


MET = st.sampled_from(["used", "passed over", "not met"])


@given(st.lists(MET, max_size=40))
def test_no_number_less_another_tells_of_fewer_than_the_floor(team: list[str]):
    groups = {
        group: [MemberReport(frozenset({"c"})) for one in team if one == group] for group in ("used", "passed over")
    }
    told = merge_statistics(release(groups["used"]), release(groups["passed over"]), {}).get("c", TeamUse())
    for number, group in ((told.used, "used"), (told.offered - told.used if told.offered else 0, "passed over")):
        assert number == 0 or FLOOR <= number <= len(groups[group])
    # Silence says of a group only that it is smaller than the floor.
    assert bool(told.used) == (len(groups["used"]) >= FLOOR)
    assert bool(told.offered) == (len(groups["passed over"]) >= FLOOR)


@given(st.lists(MET, min_size=FLOOR, max_size=20), MET, MET)
def test_a_member_that_begins_to_use_what_it_passed_over_is_seen_in_no_number(team: list[str], was: str, now: str):
    for group in ("used", "passed over"):
        others = [MemberReport(here, here) for one in team if (here := _names(one, group)) is not None]
        assert not is_due([*others, MemberReport(_names(now, group), _names(was, group))])


def _names(one: str, group: str) -> Components:
    return frozenset({"c"}) if one == group else NOTHING


def _filled(team: list[Components], size: int) -> list[Components]:
    return [*team, *[NOTHING] * (size - len(team))]
