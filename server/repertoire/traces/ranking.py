"""Fuses the evidence for traces into one ranking, weights it by trust, age and environment, and merges near copies."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from repertoire.domain.text import content_words, with_pairs
from repertoire.domain.trace import FAILED, SUPERSEDED, WORKED, Trace, Trust

# Weights beside the vectors', which weigh 1. On each labelled set, the weighted sum ranks the right trace first
# more often than reciprocal rank fusion, because ranks hide that nothing is near.
WORDS_OF_QUESTION, WORDS_OF_ERROR = 0.7, 0.15  # an error shares many words with any trace of its tool
_SAME, _COVERAGE = 0.2, 0.1  # the same error, and the share of the question's words
_FEW = 4  # words that are always searched for
_ALIKE = 0.8  # Jaccard similarity of words from which two traces are near copies
_SAME_PROBLEM, _SAME_WAY = 0.5, 0.5  # share of the shorter text's words from which two texts tell of the same

# Coefficients of the confidence, fitted to the questions of four labelled sets with their trace in the store, and with
# it removed.
_CONSTANT, _LIKENESS, _COVERED, _SAME_ERROR, _MARGIN = -6.96, 7.66, 2.56, 2.12, 3.86
_OTHER_MESSAGE = -1.0  # added to the odds, beside a lead that counts nothing
_UNREAD = 0.4  # similarity without a model: only a trace with nearly all words then fits
FITS = 0.5
# Chance, without any lead, below which a trace only takes room beside one that fits. Of 1,077 wrong ones beside 279
# that fit (near problems, dev), 148 are below; of the 39 right ones, none.
BESIDE = 0.02


@dataclass(frozen=True)
class Evidence:
    """The evidence for one trace: vector similarity, share of the question's words, same error or another."""

    likeness: float = 0.0
    covered: float = 0.0
    same_error: float = 0.0
    other_message: bool = False  # it shows the exception that was printed, with other messages alone

    @property
    def bonus(self) -> float:
        """Return what the share of the question's words adds to the fused score."""
        return _COVERAGE * self.covered


def confidence(evidence: Evidence, margin: float) -> float:
    """Return the probability that the first trace answers the question; `margin`: its score above the next one's.

    A trace of the same exception with another message stands out as the only one of its tool, and not by its problem.
    """
    odds = (
        _CONSTANT
        + _LIKENESS * (evidence.likeness or _UNREAD)
        + _COVERED * evidence.covered
        + _SAME_ERROR * evidence.same_error
        + (_OTHER_MESSAGE if evidence.other_message else _MARGIN * margin)
    )
    return 1 / (1 + math.exp(-odds))


def fuse(
    words: Mapping[int, float],
    spaces: Sequence[Mapping[int, float]],
    same_error: Mapping[int, float],
    words_weight: float,
) -> dict[int, float]:
    """Return the fused score of each trace: by words relative to the best, by the nearer vector, by the same error.

    A trace that a vector space does not list counts as near as the last one it lists.
    """
    best = max(words.values(), default=1.0)
    least = [min(space.values(), default=0.0) for space in spaces]
    fused = {}
    for node_id in {*words, *same_error, *(node_id for space in spaces for node_id in space)}:
        near = [space.get(node_id, floor) for space, floor in zip(spaces, least, strict=True)] or [0.0]
        by_words = words_weight * words.get(node_id, 0.0) / best
        fused[node_id] = max(near) + by_words + _SAME * same_error.get(node_id, 0.0)
    return fused


def rarity(count: int, total: int) -> float:
    """Return the inverse document frequency of a word that `count` of `total` traces contain."""
    return math.log(1 + max(total - count + 0.5, 0.5) / (count + 0.5))


def rarest_words(counts: Mapping[str, int], postings: int) -> list[str]:
    """Return the rarest words that together occur in at most this many traces, and always a few."""
    held = sorted((count, word) for word, count in counts.items() if count)
    told, found = list[str](), 0
    for count, word in held:
        found += count
        if found > postings and len(told) >= _FEW:
            break
        told.append(word)
    return told


def score_factor(trust: Trust, *, recency: float, validity: float, alignment: float) -> float:
    """Return the factor of a trace's score, from trust, age and the agreement of environments."""
    believed = (trust.bound + trust.high) / 2
    return (0.85 + 0.3 * believed) * (0.9 + 0.1 * recency) * validity * (0.8 + 0.2 * alignment)


def without_twins(
    ranked: Sequence[int], words: Mapping[int, frozenset[str]], traces: Mapping[int, Trace], *, most: int
) -> dict[int, list[int]]:
    """Map each of the best traces, at most `most`, to its near copies before the next one, in order.

    A near copy has the same outcome: what failed elsewhere is no copy of what worked. Nor is what is superseded:
    an author who says it anew confirms nothing, and the newest version would hide behind an older one.
    """
    kept: dict[int, list[int]] = {}
    for node_id in ranked:
        twin = next(
            (
                other
                for other in kept
                if SUPERSEDED not in (traces[other].status, traces[node_id].status)
                and traces[other].outcome == traces[node_id].outcome
                and _jaccard(words[node_id], words[other]) >= _ALIKE
            ),
            None,
        )
        if twin is None and len(kept) == most:
            break
        if twin is None:
            kept[node_id] = []
        else:
            kept[twin].append(node_id)
    return kept


def contradict(one: Trace, other: Trace) -> bool:
    """Tell whether two traces tried the same against the same problem, and it worked for only one of them."""
    if {one.outcome, other.outcome} != {WORKED, FAILED}:
        return False
    told, also = (f"{trace.title} {trace.context}" for trace in (one, other))
    same_problem = bool({*one.signatures} & {*other.signatures}) or _overlap(told, also) >= _SAME_PROBLEM
    return same_problem and _overlap(one.solution, other.solution) >= _SAME_WAY


def _overlap(one: str, other: str) -> float:
    """Return the share of the shorter text's content words that the other text has too."""
    words, others = set(content_words(with_pairs(one))), set(content_words(with_pairs(other)))
    return len(words & others) / max(min(len(words), len(others)), 1)


def _jaccard(one: frozenset[str], other: frozenset[str]) -> float:
    if min(len(one), len(other)) < _ALIKE * max(len(one), len(other)):
        return 0.0  # the lengths differ too much for near copies
    shared = len(one & other)
    return shared / (len(one) + len(other) - shared) if one else 1.0
