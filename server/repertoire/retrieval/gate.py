"""Whether an answer is good enough to be given: a confidence learned on requests that are served here and others.

Learned on cc_native's train queries within their repositories, and on requests for travel, shops and horoscopes that no
Claude Code component serves: `python bench/quality/learn.py --gate`.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

FITS = 0.25  # below it an answer holds the nearest misses
_SIMILARITY, _FIRST, _BEST, _NOTHING = 10.8, 2.5, 2.3, -5.3
_USUAL_SIMILARITY = 0.5


@dataclass(frozen=True)
class Evidence:
    """What speaks for the head of an answer: similarity, and the share of the question's words that it holds."""

    similarity: float  # of the most similar of the first three
    first: float  # share held by the first
    best: float  # the largest share that one of the first three holds


def confidence(evidence: Evidence, *, vectors: bool) -> float:
    """Return how sure it is, 0 to 1, that something here serves the question.

    Without vectors the words speak for both: what is held in full is as good as a likeness usual among what serves.
    """
    similarity = evidence.similarity if vectors else _USUAL_SIMILARITY * evidence.best
    odds = _SIMILARITY * similarity + _FIRST * evidence.first + _BEST * evidence.best + _NOTHING
    return 1.0 / (1.0 + math.exp(-odds))
