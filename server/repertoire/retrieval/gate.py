"""Whether an answer is good enough to be given: a calibrated confidence and the point below which nothing fits."""

from __future__ import annotations

import math
from dataclasses import dataclass

FITS = 0.35  # below it an answer holds the nearest misses


@dataclass(frozen=True)
class Evidence:
    """What speaks for the first hit: its cosine similarity, and the share of the question's words that it holds."""

    similarity: float
    coverage: float


def confidence(evidence: Evidence) -> float:
    """Return how sure it is, 0 to 1, that the first hits serve the question."""
    return 1.0 / (1.0 + math.exp(-(9.0 * evidence.similarity + 2.0 * evidence.coverage - 4.0)))
