"""The usage of components: its decay, and its bounded effect on their score."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from repertoire.domain.confidence_intervals import wilson
from repertoire.domain.event import BAD, OK, UNKNOWN
from repertoire.learning.lift import NO_LIFT
from repertoire.learning.outcomes import Trial, propensity
from repertoire.learning.shared_use import TeamUse
from repertoire.learning.usage import ComponentUsage, Decay, Usage, summarize_usage
from repertoire.learning.usage_score import usage_score, usage_scores

NOW, DAY = "2026-04-02T00:00:00Z", "2026-01-02T00:00:00Z"  # ninety days apart
OFFERED = Trial("a", "/here", "s1", "r1", offered_at=NOW, rank=1)
TAKEN = replace(OFFERED, selected_at=NOW, outcome=OK)


def usage(*trials: Trial, project: str = "") -> Usage:
    return summarize_usage(trials, Decay(NOW, 90.0, project))


def test_a_component_is_remembered_with_all_that_was_counted() -> None:
    other = Trial("b", "/here", "s1", "r1", selected_at=NOW, outcome=BAD)
    records = usage(OFFERED, TAKEN, other).records
    record = records["a"]
    assert (record.recommended, record.selected, record.ok, record.failed) == (2, 1, 1, 0)
    assert record.selected_with == {"b": 1}
    assert (record.last_recommended, record.last_selected) == (NOW, NOW)
    assert (records["b"].recommended, records["b"].last_recommended, record.alone) == (0, "", 0.0)


def test_what_came_of_an_installation_that_was_undone_is_no_outcome() -> None:
    record = usage(replace(OFFERED, outcome=OK), replace(OFFERED, outcome=BAD)).records["a"]
    assert (record.selected, record.ok, record.failed, record.good, record.bad) == (0, 0, 0, 0.0, 0.0)


def test_exact_copies_have_one_record_and_one_value() -> None:
    found = summarize_usage([OFFERED, replace(TAKEN, node="copy")], Decay(NOW), same={"copy": "a", "gone": "other"})
    assert found.of("copy") == found.of("a") == found.records["a"]
    assert (found.records.keys(), found.records["a"].recommended) == ({"a"}, 2)
    assert found.of_each({"a": 1.0, "b": 2.0}) == {"a": 1.0, "b": 2.0, "copy": 1.0}


def test_half_a_life_later_it_counts_half_and_in_another_project_half_again() -> None:
    old = replace(OFFERED, offered_at=DAY)
    assert usage(old).records["a"].looks == pytest.approx(0.5)
    assert usage(old, project="/here").records["a"].looks == pytest.approx(0.5)
    assert usage(old, project="/there").records["a"].looks == pytest.approx(0.25)


def test_a_clock_that_was_put_back_amplifies_nothing() -> None:
    assert usage(replace(OFFERED, offered_at="2027-01-01T00:00:00Z")).records["a"].looks == 1.0


def test_wilsons_bounds_are_those_of_the_literature() -> None:
    bounds = wilson(8, 10)
    assert (round(bounds.low, 3), round(bounds.high, 3)) == (0.490, 0.943)


def test_position_alone_favours_nobody() -> None:
    """Two that are taken by all who look, one always first and one always third, lean alike."""
    first = [replace(OFFERED, selected_at=NOW)] * 30
    third = [replace(OFFERED, node="c", rank=3)] * 60 + [replace(OFFERED, node="c", rank=3, selected_at=NOW)] * 30
    assert propensity(3) == pytest.approx(1 / 3)
    found = usage_scores(usage(*first, *third))
    assert found["a"] == pytest.approx(found["c"])


def test_what_is_left_aside_leans_down_what_is_taken_leans_up_and_the_unknown_not_at_all() -> None:
    ignored = [replace(OFFERED, node="b")] * 20
    found = usage_scores(usage(*[TAKEN] * 20, *ignored))
    assert found["a"] > 0 > found["b"]
    assert "c" not in found


def test_what_is_used_without_being_told_of_leans_no_lower_for_a_hint_that_nobody_needed() -> None:
    used = replace(TAKEN, offered_at="", rank=0, session="by itself")
    others = [replace(TAKEN, node="b", session=f"t{n}") for n in range(2)]
    assert usage_scores(usage(used, OFFERED, *others))["a"] > usage_scores(usage(OFFERED, *others))["a"]
    assert usage_scores(usage(used, OFFERED, *others, *[replace(OFFERED, node="b")] * 3))["a"] >= 0.0


def test_a_persons_no_weighs_more_than_any_number_of_ignored_offers() -> None:
    no = Trial("b", "/here", selected_at=NOW, how="told", outcome=BAD, because="somebody said so")
    yes = replace(no, outcome=OK)
    ignored = [replace(OFFERED, node="c")] * 100
    assert usage_scores(usage(TAKEN, no, *ignored))["b"] < usage_scores(usage(TAKEN, no, *ignored))["c"] < 0
    assert usage_scores(usage(TAKEN, no, yes))["b"] >= 0
    assert usage(replace(no, outcome=UNKNOWN)).records["b"].alone == 0


def test_what_keeps_failing_leans_down_though_it_is_taken() -> None:
    failing = [replace(TAKEN, outcome=BAD)] * 12
    working = [replace(TAKEN, node="b")] * 12
    found = usage_scores(usage(*failing, *working))
    assert found["a"] < 0 < found["b"]


def test_what_is_used_and_fails_does_not_count_as_liked() -> None:
    failed = [replace(OFFERED, session=f"s{number}", selected_at=NOW, outcome=BAD) for number in range(9)]
    other = [replace(TAKEN, node="b", session=f"t{number}") for number in range(9)]
    found = usage_scores(usage(*failed, *other))
    assert found["a"] < -0.5 < 0 < found["b"]
    assert usage_scores(usage(*failed[:1], *other))["a"] < 0


amounts = st.floats(0, 1e6)


@given(amounts, amounts, amounts, amounts, st.floats(0, 1))
def test_no_history_leans_further_than_its_bound(
    looks: float, taken: float, good: float, bad: float, usual: float
) -> None:
    assert -1.0 <= usage_score(ComponentUsage("a", looks=looks, taken=taken, good=good, bad=bad), usual) <= 1.0


def test_what_a_team_uses_counts_a_little_where_nothing_is_known_here_and_never_against_harm():
    here = usage_scores(usage(*[TAKEN] * 20))
    team = {"b": TeamUse(5), "c": TeamUse(50), "d": TeamUse(5_000), "a": TeamUse(5)}
    found = usage_scores(usage(*[TAKEN] * 20), team)
    assert 0 < found["b"] < found["c"] == found["d"] <= 0.2
    assert here["a"] <= found["a"] <= 1.0
    assert usage_scores(usage()) == {}
    harmful = Usage({"a": ComponentUsage("a", lift=replace(NO_LIFT, harmful=True))}, same={"copy": "a"})
    assert usage_scores(harmful, {"copy": TeamUse(5_000)}) == {"a": -1.0}


def test_what_a_team_passed_over_or_what_failed_there_counts_less_and_what_worked_more():
    told = {
        "plain": TeamUse(10),
        "worked": TeamUse(10, worked=0.8),
        "failed": TeamUse(10, worked=0.2),
        "passed over": TeamUse(10, offered=40),
        "used by few": TeamUse(0, offered=40),
    }
    found = usage_scores(usage(), told)
    assert found["used by few"] == 0.0 < found["passed over"] < found["plain"]
    assert found["failed"] < found["plain"] < found["worked"] <= 0.3
    assert usage_scores(usage(), {"a": TeamUse(5, worked=0.0)})["a"] >= -0.1
