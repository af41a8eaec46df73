"""An answer about an outcome proves nothing of who gave it, and many answers together tell how often it worked."""

from __future__ import annotations

import random
from collections import Counter
from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from repertoire.learning.randomized_response import FLIPPED, answer, estimated_share
from repertoire.learning.shared_use import FAILED, FLOOR, WORKED, MemberReport, answered, release_outcomes

DRAWS = 20_000
TRUTHS = (True, False)


def chance_of(said: bool, truth: bool) -> float:
    return 1 - FLIPPED if said == truth else FLIPPED


@pytest.mark.parametrize("truth", TRUTHS)
def test_one_answer_in_four_is_untrue_whatever_the_truth_is(truth: bool):
    draw = random.Random(5)
    untrue = sum(answer(draw.randbytes(32), "a skill", truth=truth) != truth for _ in range(DRAWS))
    assert untrue / DRAWS == pytest.approx(FLIPPED, abs=0.012)  # four standard deviations


def test_answers_of_one_home_to_several_questions_are_drawn_apart():
    draw = random.Random(6)
    pairs = Counter(
        tuple(answer(secret, name, truth=True) for name in "ab") for secret in map(draw.randbytes, [32] * DRAWS)
    )
    for pair in product(TRUTHS, repeat=2):
        expected = chance_of(pair[0], truth=True) * chance_of(pair[1], truth=True)
        assert pairs[pair] / DRAWS == pytest.approx(expected, abs=0.014)


@given(st.binary(min_size=32, max_size=32), st.text(max_size=30), st.booleans())
def test_asked_again_a_home_answers_the_same(secret: bytes, question: str, truth: bool):
    assert answer(secret, question, truth=truth) == answer(secret, question, truth=truth)


def told(answers: list[bool]) -> dict[str, float]:
    """Return what is released of one component where members answer so."""
    said = ({"c": WORKED if one else FAILED} for one in answers)
    return release_outcomes(MemberReport(answered(one)) for one in said)


@given(st.lists(st.booleans(), max_size=12), st.integers(1, 3))
def test_who_knows_every_other_answer_can_at_most_triple_the_odds_of_the_last_ones_outcome(
    others: list[bool], releases: int
):
    # The attack: all but one tell each other their answers, and read release after release, silence included. The last
    # member's answer stays, so that all releases are made of the one draw; each world is weighed by its chance.
    seen: dict[tuple[str, ...], dict[bool, float]] = {}
    for said in TRUTHS:
        observed = tuple(str(told([*others, said])) for _ in range(releases))
        for truth in TRUTHS:
            of = seen.setdefault(observed, dict.fromkeys(TRUTHS, 0.0))
            of[truth] += chance_of(said, truth)
    for chances in seen.values():
        assert 1 / 3 <= chances[True] / chances[False] <= 3


@given(st.lists(st.booleans(), max_size=FLOOR - 1))
def test_below_the_floor_nothing_is_told(answers: list[bool]):
    assert told(answers) == {}


def test_five_who_all_say_that_it_worked_are_told_of_as_hardly_more_than_half():
    assert told([True] * 5) == {"c": 0.7}
    assert told([False] * 5) == {"c": 0.3}


@pytest.mark.parametrize("share", [0.1, 0.5, 0.9])
def test_from_many_answers_the_true_share_is_found(share: float):
    draw = random.Random(7)
    worked = round(share * 500)
    truths = [number < worked for number in range(500)]
    found = [
        estimated_share(sum(answer(draw.randbytes(32), "c", truth=truth) for truth in truths), len(truths))
        for _ in range(50)
    ]
    assert sum(found) / len(found) == pytest.approx(share, abs=0.03)
    assert all(abs(one - share) < 0.15 for one in found)


@given(st.integers(1, 300).flatmap(lambda all_: st.tuples(st.integers(0, all_), st.just(all_))))
def test_an_estimate_is_a_share_and_grows_with_those_who_say_yes(counts: tuple[int, int]):
    yes, every = counts
    assert 0.0 <= estimated_share(yes, every) <= 1.0
    assert yes == every or estimated_share(yes, every) <= estimated_share(yes + 1, every)
