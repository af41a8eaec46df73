"""The lift of a component over requests without it: with an interval, decayed, and recoverable."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from learning.test_outcomes import ASK, AT, CHECK, CORRECT, OFFER, SECOND, UNDO, USE, Happening
from repertoire.domain import event as kinds
from repertoire.domain.confidence_intervals import newcombe
from repertoire.domain.event import BAD, OK, UNKNOWN
from repertoire.learning.lift import MIN_REQUESTS, Lift, lift_of
from repertoire.learning.outcomes import Trial, trials
from repertoire.learning.usage import ComponentUsage, Decay, summarize_usage
from repertoire.learning.usage_score import usage_score, usage_scores

USED = Trial("a", "/here", "s", "r", offered_at=AT, rank=1, selected_at=AT)
ASIDE = Trial("a", "/here", "s", "r", offered_at=AT, rank=1)
OTHER = Happening(kinds.SELECTED, "b")


def lift(used: tuple[int, int], unused: tuple[int, int], *, weight: float = 1.0) -> Lift:
    found = [replace(USED, outcome=OK)] * used[0] + [replace(USED, outcome=BAD)] * used[1]
    found += [replace(ASIDE, apart=OK)] * unused[0] + [replace(ASIDE, apart=BAD)] * unused[1]
    return lift_of(found, lambda _: weight)


@pytest.mark.parametrize(
    ("first", "second", "bounds"),
    [
        ((56, 70), (48, 80), (0.0524, 0.3339)),
        ((9, 10), (3, 10), (0.1705, 0.8090)),
        ((10, 10), (0, 10), (0.6075, 1.0)),
    ],
)
def test_newcombes_bounds_are_those_of_his_paper(
    first: tuple[int, int], second: tuple[int, int], bounds: tuple[float, float]
) -> None:
    found = newcombe(first, second)
    assert (round(found.low, 4), round(found.high, 4)) == bounds


def test_what_goes_worse_with_it_surely_and_often_enough_is_demoted_and_says_so() -> None:
    found = lift((2, 7), (7, 1))
    assert found.difference.high < 0
    assert found.demoted == "demoted: failed more often than without it, 7 of 9 times against 1 of 8"
    assert usage_score(ComponentUsage("a", looks=5, taken=5, good=2, bad=7, lift=found), usual=0.1) == -1.0


@pytest.mark.parametrize(
    ("used", "unused"),
    [
        ((7, 2), (1, 7)),  # it helps
        ((0, 4), (4, 0)),  # too few
        ((5, 5), (6, 4)),  # unsure
        ((0, 50), (0, 0)),  # nothing to compare it with
        ((0, 0), (0, 50)),
        ((0, 0), (0, 0)),
    ],
)
def test_nothing_else_is_demoted(used: tuple[int, int], unused: tuple[int, int]) -> None:
    found = lift(used, unused)
    assert (found.harmful, found.demoted) == (False, "")
    assert found.known == (sum(used) > 0 and sum(unused) > 0)


def test_an_installation_that_was_undone_counts_as_no_request_with_it() -> None:
    installed = Happening(kinds.SELECTED, "a", data={"how": "installed", "offer": 1})
    undone = Happening(kinds.TAKEN_BACK, "a", data={"installed": AT})
    assert lift_of(trials([ASK, OFFER, installed, CHECK]), lambda _: 1.0).used.ok == 1
    assert lift_of(trials([ASK, OFFER, installed, CHECK, undone]), lambda _: 1.0).used.known == 0


def test_it_recovers_by_doing_better_and_by_being_forgotten() -> None:
    assert lift((2, 7), (7, 1)).harmful
    assert not lift((2 + 12, 7), (7, 1)).harmful
    assert not lift((2, 7), (7, 1), weight=0.5).harmful


@given(*[st.integers(0, 40)] * 4, st.floats(0.01, 1))
def test_a_difference_lies_between_its_bounds_and_harm_needs_enough(
    good: int, bad: int, well: int, ill: int, weight: float
) -> None:
    found = lift((good, bad), (well, ill), weight=weight)
    assert -1 - 1e-9 <= found.difference.low <= found.difference.value <= found.difference.high <= 1 + 1e-9
    if found.harmful:
        assert min(good + bad, well + ill) * weight >= MIN_REQUESTS - 1e-9
        assert good / (good + bad) < well / (well + ill)


@pytest.mark.parametrize(
    ("after", "apart"),
    [
        ((), UNKNOWN),
        ((CHECK,), OK),
        ((UNDO,), BAD),
        ((CHECK, CORRECT, SECOND), BAD),
        ((CORRECT, CHECK), BAD),
        ((SECOND, CHECK), UNKNOWN),
        ((OTHER, CHECK), OK),
        ((OTHER, UNDO), BAD),
        ((Happening(kinds.FAILED, "b"),), BAD),
        ((CHECK, Happening(kinds.FAILED, "b")), BAD),
        ((OTHER, Happening(kinds.OUTCOME, "b", data={"outcome": "ok"})), OK),
        ((USE, CHECK), UNKNOWN),  # it was used: this tells of itself
    ],
)
def test_what_came_of_a_request_without_what_was_offered_for_it(after: tuple[Happening, ...], apart: str) -> None:
    found = trials([ASK, OFFER, *after])
    assert next(trial for trial in found if trial.node == "a").apart == apart


@pytest.mark.parametrize(("where", "apart"), [("prompt", OK), ("set", UNKNOWN)])
def test_what_is_installed_was_passed_over_where_a_hint_named_it_but_not_beside_others_of_a_set(
    where: str, apart: str
) -> None:
    offer = replace(OFFER, data={"where": where, "installed": True})
    assert trials([ASK, offer, OTHER, CHECK])[0].apart == apart


def test_what_was_used_without_a_request_says_nothing_of_what_else_was_offered_without_one() -> None:
    offer, other = replace(OFFER, request=""), replace(OTHER, request="")
    assert [trial.apart for trial in trials([offer, other, CHECK])] == [UNKNOWN, UNKNOWN]


def test_a_memory_holds_the_lift_of_each_component_and_leaves_others_alone() -> None:
    harm = [replace(USED, outcome=BAD)] * 9 + [replace(ASIDE, apart=OK)] * 9
    found = summarize_usage([*harm, replace(USED, node="b", outcome=OK)], Decay(AT))
    assert found.records["a"].lift.harmful
    assert not found.records["b"].lift.known
    assert usage_scores(found)["a"] == -1.0 < 0.0 < usage_scores(found)["b"]
