"""Compares answers with and without a pack: blind pairs in both orders, and paired figures of what a judge gave."""

from __future__ import annotations

import hashlib
import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from repertoire.domain.digest import digest_of

WITH, WITHOUT = "with", "without"  # the two arms
ORDERS = ("first", "second")  # each pair is judged twice: the second time the other answer stands first
BEST = 10.0  # points of a perfect answer
_RESAMPLES = 10_000  # of the paired bootstrap
_SEED = 20_261_124


@dataclass(frozen=True)
class Pair:
    """Two answers to a question, as a judge sees them: nothing tells which of them had the pack."""

    id: str
    question: str
    reference: str
    a: str
    b: str


@dataclass(frozen=True)
class JudgedQuestion:
    """The points of both answers to a question, each the mean of the two orders."""

    id: str
    question: str
    points: Mapping[str, float]  # by arm

    @property
    def gain(self) -> float:
        """How many points the pack brought."""
        return self.points[WITH] - self.points[WITHOUT]


@dataclass(frozen=True)
class Judgement:
    """What a judged run shows; `low` and `high` bound the mean gain (95 %, paired bootstrap over questions).

    `position` is how many points the answer that stands first gets more, over both orders: the judge's bias.
    """

    questions: tuple[JudgedQuestion, ...]
    points_with: float
    points_without: float
    gain: float
    low: float
    high: float
    position: float
    better: int  # questions that the pack answered better
    worse: int

    @property
    def beats(self) -> bool:
        """Whether the answers with the pack are better for sure."""
        return self.low > 0.0


def pairs_of(
    asked: Mapping[str, tuple[str, str]], answers: Mapping[str, Mapping[str, str]], secret: str
) -> dict[str, list[Pair]]:
    """Return the pairs to judge by order; `asked` has question and reference by id, `answers` texts by arm and id."""
    made: dict[str, list[Pair]] = {order: [] for order in ORDERS}
    for one, (question, reference) in asked.items():
        first, second = (answers[arm][one] for arm in _arms(one, secret))
        for order, (a, b) in zip(ORDERS, ((first, second), (second, first)), strict=True):
            made[order].append(Pair(_name(one, order, secret), question, reference, a, b))
    for order, pairs in made.items():
        random.Random(f"{secret}{order}").shuffle(pairs)  # noqa: S311 - an order, no secret
    return made


def judged(
    asked: Mapping[str, tuple[str, str]], given: Mapping[str, Mapping[str, tuple[float, float]]], secret: str
) -> Judgement:
    """Return the figures of a judged run; `given` has the points (A, B) by order and pair.

    Raises:
        KeyError: a pair was not judged.
    """
    rows, lead = list[JudgedQuestion](), list[float]()
    for one, (question, _) in asked.items():
        first, second = _arms(one, secret)
        a, b = given[ORDERS[0]][_name(one, ORDERS[0], secret)]
        c, d = given[ORDERS[1]][_name(one, ORDERS[1], secret)]
        rows.append(JudgedQuestion(one, question, {first: (a + d) / 2, second: (b + c) / 2}))
        lead += [a - b, c - d]
    gains = [row.gain for row in rows]
    low, high = _bootstrap(gains)
    return Judgement(
        tuple(rows),
        _mean([row.points[WITH] for row in rows]),
        _mean([row.points[WITHOUT] for row in rows]),
        _mean(gains),
        low,
        high,
        _mean(lead),
        sum(gain > 0.0 for gain in gains),
        sum(gain < 0.0 for gain in gains),
    )


def _arms(one: str, secret: str) -> tuple[str, str]:
    """Return which arm stands first in the first order."""
    even = hashlib.sha256(f"{secret}\0{one}".encode()).digest()[0] % 2 == 0
    return (WITH, WITHOUT) if even else (WITHOUT, WITH)


def _name(one: str, order: str, secret: str) -> str:
    """Return the name of a pair: it differs in the two orders, so that nobody sees which pairs belong together."""
    return digest_of(f"{secret}\0{one}\0{order}")[:16]


def _bootstrap(gains: Sequence[float]) -> tuple[float, float]:
    dice = random.Random(_SEED)  # noqa: S311 - the same figures give the same interval
    means = sorted(_mean(dice.choices(gains, k=len(gains))) for _ in range(_RESAMPLES))
    return round(means[int(0.025 * _RESAMPLES)], 3), round(means[int(0.975 * _RESAMPLES) - 1], 3)


def _mean(numbers: Sequence[float]) -> float:
    return round(sum(numbers) / len(numbers), 3)
