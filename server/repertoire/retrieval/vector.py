"""Meaning: the cosine similarity of a question, and of its clauses, with every component in one space."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from repertoire.ports import Vectors
from repertoire.retrieval.snapshot import Floats, Mask, Space


@dataclass(frozen=True)
class Question:
    """The vectors of a question: as the model made it, and turned towards what answers it, with its clauses."""

    asked: Vectors
    turned: Vectors
    clauses: Vectors  # turned; a row a clause


@dataclass(frozen=True)
class Semantic:
    """Similarities of every row, never below 0: of the question, of the turned one, of the nearest turned clause."""

    asked: Floats
    whole: Floats
    clause: Floats

    @classmethod
    def silent(cls, size: int) -> Semantic:
        """Return what is known without vectors."""
        return cls(np.zeros(size), np.zeros(size), np.zeros(size))


def semantic(space: Space, question: Question, allowed: Mask) -> Semantic:
    """Compare a question and its clauses with the allowed rows of a space."""
    size = len(allowed)
    if not len(space.rows):
        return Semantic.silent(size)
    # einsum, not @: BLAS starts threads for so small a product, which wait 20 ms for each other on a busy machine.
    near = [
        np.maximum(np.einsum("ij,j->i", space.vectors, vector), 0.0)
        for vector in (question.asked, question.turned, *question.clauses)
    ]
    found = Semantic.silent(size)
    found.asked[space.rows] = near[0]
    found.whole[space.rows] = near[1]
    found.clause[space.rows] = np.max(near[2:] or near[1:2], axis=0)
    return Semantic(found.asked * allowed, found.whole * allowed, found.clause * allowed)
