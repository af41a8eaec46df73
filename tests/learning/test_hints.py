"""The odds that a hint needs rise as hints of its kind are ignored, and never silence a kind."""

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
    WEARY,
    HintRate,
    demands,
    hint_counts_by_component,
    hint_rates,
    is_exploration,
    weariness,
)
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


def test_what_is_followed_less_than_rarely_needs_higher_odds_and_recovers() -> None:
    few, many = [SKILL] * 12, [SKILL] * 1200
    assert demands(rates(*few).values(), PROMPT) == {"skill": pytest.approx(2.0)}
    assert demands(rates(*many).values(), PROMPT) == {"skill": MOST}
    assert demands(rates(*few).values(), SESSION_START) == {}
    assert demands(rates(*few, FOLLOWED).values(), PROMPT)["skill"] == pytest.approx(25 / 22)
    assert demands(rates(*few, *[FOLLOWED] * 2).values(), PROMPT) == {}
    faded = demands(rates(*few, weight=0.25).values(), PROMPT)
    assert faded == {"skill": pytest.approx(15 / 12)}


def test_where_it_stood_counts() -> None:
    """What stands third is looked at by a third: of that one tires later."""
    third, first = ([replace(SKILL, rank=rank)] * 12 for rank in (3, 1))
    assert demands(rates(*third).values(), PROMPT)["skill"] < demands(rates(*first).values(), PROMPT)["skill"]


def test_one_component_is_tired_of_sooner_than_its_kind() -> None:
    trials = [SKILL] * 4 + [replace(SKILL, node="other", rank=3)] * 3
    assert weariness(hint_counts_by_component(trials, lambda _: 1.0)) == {SKILL.node: 2.0, "other": 1.25}
    assert weariness(hint_counts_by_component([*trials, FOLLOWED], lambda _: 1.0)) == {"other": 1.25}
    assert weariness(hint_counts_by_component([SKILL] * 500, lambda _: 1.0)) == {SKILL.node: WEARY}
    assert weariness(hint_counts_by_component([replace(SKILL, moment="set")] * 9, lambda _: 1.0)) == {}


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
    passed = sum(is_exploration(f"{session}\0{number}") for number in range(1000))
    assert 120 < passed < 290  # 200 are expected, with a deviation of 13
    assert FLOOR == 5
