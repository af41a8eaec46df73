"""Meaning: the cosine similarity of a question, and of its clauses, with every component in one space."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from repertoire.ports import Vectors
from repertoire.retrieval.snapshot import Floats, Space


@dataclass(frozen=True)
class Semantic:
    """Similarities of every row, never below 0: of the whole question, and of the clause nearest to the row."""

    whole: Floats
    clause: Floats

    @classmethod
    def silent(cls, size: int) -> Semantic:
        """Return what is known without vectors."""
        return cls(np.zeros(size), np.zeros(size))


def semantic(space: Space, vectors: Vectors, size: int) -> Semantic:
    """Compare a question (the first vector) and its clauses (the others) with a space."""
    if not len(space.rows):
        return Semantic.silent(size)
    # einsum, not @: BLAS starts threads for so small a product, which wait 20 ms for each other on a busy machine.
    near = np.maximum([np.einsum("ij,j->i", space.vectors, vector) for vector in vectors], 0.0)
    whole, clause = np.zeros(size), np.zeros(size)
    whole[space.rows] = near[0]
    clause[space.rows] = near[1:].max(axis=0) if len(near) > 1 else near[0]
    return Semantic(whole, clause)
