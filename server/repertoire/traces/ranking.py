"""Joins what speaks for traces into one order, weighs it by what is known of each, and merges near twins."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from repertoire.traces.trust import Trust

# What joins the evidence. Measured on two labelled sets, the sum puts the right trace first in 93 and 97 of 100,
# reciprocal ranks in 92 and 91: a space in which nothing is near says no more than that.
_WORDS, _ERROR = 0.5, 0.3
_FEW = 4  # words that are searched for in any case
_ALIKE = 0.8  # Jaccard of words, from which two traces say the same

# How sure an answer is: read off questions whose trace was there, and the same ones with it taken out.
_CONSTANT, _LIKENESS, _COVERED, _SAME_ERROR = -11.83, 12.27, 6.62, 3.36
_UNREAD = 0.4  # the likeness of what no model read: only what holds nearly all words fits then
FITS = 0.5


@dataclass(frozen=True)
class Evidence:
    """What speaks for one trace: how alike it reads, what share of the question's words it holds, the same error."""

    likeness: float = 0.0
    covered: float = 0.0
    same_error: float = 0.0

    @property
    def confidence(self) -> float:
        """Return how probably it answers the question."""
        odds = (
            _CONSTANT + _LIKENESS * (self.likeness or _UNREAD) + _COVERED * self.covered + _SAME_ERROR * self.same_error
        )
        return 1 / (1 + math.exp(-odds))


def fuse(
    words: Mapping[int, float], spaces: Sequence[Mapping[int, float]], same_error: Mapping[int, float]
) -> dict[int, float]:
    """Return what speaks for each trace: its share of the best score by words, how near it lies, the same error.

    What a space does not name lies no nearer than the last that it names.
    """
    best = max(words.values(), default=1.0)
    least = [min(space.values(), default=0.0) for space in spaces]
    fused = {}
    for node_id in {*words, *same_error, *(node_id for space in spaces for node_id in space)}:
        near = [space.get(node_id, floor) for space, floor in zip(spaces, least, strict=True)] or [0.0]
        alike = (max(near) + sum(near) / len(near)) / 2
        fused[node_id] = alike + _WORDS * words.get(node_id, 0.0) / best + _ERROR * same_error.get(node_id, 0.0)
    return fused


def rarity(count: int, total: int) -> float:
    """Return how much a word tells that so many of all traces hold (inverse document frequency)."""
    return math.log(1 + max(total - count + 0.5, 0.5) / (count + 0.5))


def telling_words(counts: Mapping[str, int], postings: int) -> list[str]:
    """Return the rarest words that together stand in so many traces, and a few of them however common they are."""
    held = sorted((count, word) for word, count in counts.items() if count)
    told, found = list[str](), 0
    for count, word in held:
        found += count
        if found > postings and len(told) >= _FEW:
            break
        told.append(word)
    return told


def worth(trust: Trust, *, recency: float, validity: float, alignment: float) -> float:
    """Return by what a trace's score is multiplied: trust, age, and how far its environment is the one at hand."""
    believed = (trust.bound + trust.high) / 2
    return (0.85 + 0.3 * believed) * (0.9 + 0.1 * recency) * validity * (0.8 + 0.2 * alignment)


def without_twins(ranked: Sequence[int], words: dict[int, frozenset[str]]) -> dict[int, list[int]]:
    """Map each trace that stays to those that say the same and stand behind it, in order."""
    kept: dict[int, list[int]] = {}
    for node_id in ranked:
        twin = next((other for other in kept if _jaccard(words[node_id], words[other]) >= _ALIKE), None)
        if twin is None:
            kept[node_id] = []
        else:
            kept[twin].append(node_id)
    return kept


def _jaccard(one: frozenset[str], other: frozenset[str]) -> float:
    if min(len(one), len(other)) < _ALIKE * max(len(one), len(other)):
        return 0.0  # it cannot reach what twins need
    shared = len(one & other)
    return shared / (len(one) + len(other) - shared) if one else 1.0
