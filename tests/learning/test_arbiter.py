"""The arbiter: one rarity rule and one budget for components, traces and failed commands, and nothing twice."""

from __future__ import annotations

from dataclasses import replace

import pytest

from repertoire.learning.arbiter import (
    COMPONENT_TOKENS,
    ENOUGH_TRACES,
    FAILED_COMMAND,
    HINT_THRESHOLD,
    MOMENT_TOKENS,
    NO_BUDGET,
    RARELY_TAKEN,
    SESSION_TOKENS,
    SHOWN_BEFORE,
    TRACE,
    Candidate,
    Occasion,
    arbitrate,
    odds_of,
)
from repertoire.learning.hints import BEFORE_COMMAND, FAILURE, FLOOR, MOMENTS, PROMPT, SESSION_START

SKILLS = [Candidate(f"skill-{n}", "skill", 0.5, COMPONENT_TOKENS) for n in range(3)]
TRACES = [Candidate(f"trace:{n}", TRACE, 0.6, 40) for n in range(5)]


def names(occasion: Occasion) -> list[Occasion]:
    """Return the same moment in a hundred sessions."""
    return [replace(occasion, name=f"s{n}") for n in range(100)]


@pytest.mark.parametrize("moment", [PROMPT, SESSION_START])
def test_components_alone_are_all_shown_in_their_order_however_much_the_session_was_shown(moment: str) -> None:
    occasion = Occasion(moment, "s", spent=10 * SESSION_TOKENS)
    assert arbitrate(SKILLS, occasion).shown == tuple(one.key for one in SKILLS)


def test_one_trace_stands_beside_components_and_three_alone() -> None:
    beside = arbitrate([*SKILLS, *TRACES], Occasion(SESSION_START, "s"))
    assert [key for key in beside.shown if key.startswith("trace:")] == ["trace:0"]
    assert beside.held == dict.fromkeys(("trace:1", "trace:2", "trace:3", "trace:4"), ENOUGH_TRACES)
    assert arbitrate(TRACES, Occasion(SESSION_START, "s")).shown == ("trace:0", "trace:1", "trace:2")


def test_components_that_were_shown_before_leave_their_place_to_traces() -> None:
    occasion = Occasion(SESSION_START, "s", seen=frozenset(one.key for one in SKILLS))
    assert arbitrate([*SKILLS, *TRACES], occasion).shown == ("trace:0", "trace:1", "trace:2")


def test_what_the_session_was_shown_is_not_shown_again() -> None:
    decision = arbitrate(TRACES[:1], Occasion(FAILURE, "s", seen=frozenset(("trace:0",))))
    assert decision.shown == ()
    assert decision.held == {"trace:0": SHOWN_BEFORE}


@pytest.mark.parametrize("moment", MOMENTS)
def test_a_moment_costs_no_more_than_its_budget_and_the_most_probable_comes_first(moment: str) -> None:
    long = MOMENT_TOKENS[moment] // 2 + 1
    candidates = [Candidate("worse", FAILED_COMMAND, 0.4, long), Candidate("better", TRACE, 0.9, long)]
    decision = arbitrate(candidates, Occasion(moment, "s"))
    assert decision.shown == ("better",)
    assert decision.held == {"worse": NO_BUDGET}


def test_a_session_that_was_shown_much_is_shown_no_more_traces() -> None:
    occasion = Occasion(FAILURE, "s", spent=SESSION_TOKENS - 39)
    assert arbitrate(TRACES[:1], occasion).held == {"trace:0": NO_BUDGET}
    assert arbitrate(TRACES[:1], replace(occasion, spent=SESSION_TOKENS - 40)).shown == ("trace:0",)


@pytest.mark.parametrize(
    ("kind", "moment"), [("skill", PROMPT), (TRACE, FAILURE), (TRACE, SESSION_START), (FAILED_COMMAND, BEFORE_COMMAND)]
)
def test_what_is_rarely_taken_needs_higher_odds_whatever_its_kind_but_for_one_occasion_in_so_many(
    kind: str, moment: str
) -> None:
    one = Candidate("x", kind, 0.5, 40)
    times = odds_of(0.5) / odds_of(HINT_THRESHOLD)
    for rare in ({"demands": {kind: 1.1 * times}}, {"weary": {"x": 1.1 * times}}):
        decisions = [arbitrate([one], occasion) for occasion in names(Occasion(moment, "", **rare))]
        shown = sum(bool(decision.shown) for decision in decisions)
        assert 100 / FLOOR / 2 < shown < 100 / FLOOR * 2
        assert {reason for decision in decisions for reason in decision.held.values()} == {RARELY_TAKEN}
    for usual in ({"demands": {kind: 0.9 * times}}, {"weary": {"x": 0.9 * times}}, {"weary": {"y": 9 * times}}):
        assert all(arbitrate([one], occasion).shown for occasion in names(Occasion(moment, "", **usual)))


def test_what_probably_does_not_help_is_not_shown() -> None:
    assert arbitrate([Candidate("x", TRACE, 0.29, 10)], Occasion(FAILURE, "s")).shown == ()


@pytest.mark.parametrize("demand", [1.0, 2.5, 16.0])
def test_the_least_chance_for_a_demand_just_meets_it(demand: float) -> None:
    occasion = Occasion(PROMPT, "s1", demands={"skill": demand})
    odds = demand * odds_of(HINT_THRESHOLD)
    chance = odds / (1 + odds)
    assert arbitrate([Candidate("x", "skill", chance, 1)], occasion).shown == ("x",)
    below = [arbitrate([Candidate("x", "skill", 0.98 * chance, 1)], one) for one in names(occasion)]
    assert sum(bool(decision.shown) for decision in below) < 2 * 100 / FLOOR
