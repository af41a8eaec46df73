"""How often hints of a kind are followed, and what that asks of the next: nothing without history, never silence."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from learning.test_outcomes import AT
from repertoire.learning.hints import (
    FLOOR,
    MOST,
    PROMPT,
    RARE,
    SESSION_START,
    HintRate,
    demands,
    hint_rates,
    let_through,
)
from repertoire.learning.intervals import wilson
from repertoire.learning.outcomes import Trial

SKILL = Trial("a", offered_at=AT, rank=1, moment=PROMPT, type="skill")
FOLLOWED = replace(SKILL, selected_at=AT)


def rates(*found: Trial, weight: float = 1.0) -> dict[tuple[str, str], HintRate]:
    return {(rate.moment, rate.type): rate for rate in hint_rates(found, lambda _: weight)}


def test_without_history_no_hint_needs_more() -> None:
    assert (hint_rates([], lambda _: 1.0), demands([], PROMPT)) == ((), {})


def test_each_kind_has_a_rate_of_its_own_and_what_was_asked_for_is_no_hint() -> None:
    found = rates(SKILL, FOLLOWED, replace(SKILL, type="agent"), replace(SKILL, moment=SESSION_START))
    found_too = rates(replace(SKILL, moment="set"), replace(FOLLOWED, offered_at=""))
    assert list(found) == [(PROMPT, "agent"), (PROMPT, "skill"), (SESSION_START, "skill")]
    assert (found[PROMPT, "skill"].offered, found[PROMPT, "skill"].followed) == (2, 1)
    assert found_too == {}


def test_what_is_surely_followed_less_than_rarely_needs_higher_odds_and_recovers() -> None:
    few, many = [SKILL] * 20, [SKILL] * 120
    assert demands(rates(*few).values(), PROMPT) == {}
    raised = demands(rates(*many).values(), PROMPT)
    assert raised == {"skill": pytest.approx(RARE / wilson(0, 120).high)}
    assert demands(rates(*many).values(), SESSION_START) == {}
    assert demands(rates(*many, *[FOLLOWED] * 10).values(), PROMPT) == {}
    assert demands(rates(*many, weight=0.25).values(), PROMPT) == {}  # as it fades


def test_where_it_stood_counts() -> None:
    """What stands third is looked at by a third: of that nobody can be sure as soon."""
    third = [replace(SKILL, rank=3)] * 60
    assert demands(rates(*third).values(), PROMPT) == {}
    assert demands(rates(*[SKILL] * 60).values(), PROMPT) != {}


@given(st.integers(0, 400), st.integers(0, 400), st.sampled_from([1, 2, 3]), st.floats(0.001, 1.0))
def test_a_demand_is_bounded_and_what_is_followed_often_has_none(
    aside: int, followed: int, rank: int, weight: float
) -> None:
    found = [replace(SKILL, rank=rank)] * aside + [replace(FOLLOWED, rank=rank)] * followed
    for rate in hint_rates(found, lambda _: weight):
        assert 1.0 <= rate.demand <= MOST
        assert rate.demand == 1.0 or followed < RARE * rank * (aside + followed)


@given(st.text(max_size=20))
def test_about_one_in_so_many_occasions_is_let_through_whatever_they_are(session: str) -> None:
    passed = sum(let_through(f"{session}\0{number}") for number in range(1000))
    assert 120 < passed < 290  # 200 are expected, with a deviation of 13
    assert FLOOR == 5
