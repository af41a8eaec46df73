"""Meaning: the cosine similarity of a question with every component, one space at a time."""

from __future__ import annotations

import numpy as np

from repertoire.ports import Vectors
from repertoire.retrieval.snapshot import Floats, Space


def similarities(space: Space | None, vector: Vectors | None, size: int) -> Floats:
    """Return every row's cosine similarity, never below 0; 0 where it has no vector."""
    scores = np.zeros(size)
    if space is not None and vector is not None and len(space.rows):
        scores[space.rows] = np.maximum(space.vectors @ vector, 0.0)
    return scores
