"""Computes the cosines of a question and its clauses with every component, in one vector space."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from repertoire.ports import Vectors
from repertoire.retrieval.arrays import Floats, Mask, Rows, Space, places_among

_ONE_BY_ONE = 3  # query vectors up to which one product each is faster than one product for all (10,000 and 100,000)


@dataclass(frozen=True)
class Question:
    """The vectors of a question: plain, adapted by the query encoder, and one for each clause."""

    asked: Vectors  # plain; of a long question adapted too
    adapted: Vectors
    clauses: Vectors  # adapted, one row for each clause


@dataclass(frozen=True)
class Semantic:
    """Cosines of every row, at least 0: to the plain question, to the adapted one, to its nearest adapted clause."""

    asked: Floats
    whole: Floats
    clause: Floats

    @classmethod
    def silent(cls, size: int) -> Semantic:
        """Return the result without vectors: all 0."""
        return cls(np.zeros(size), np.zeros(size), np.zeros(size))


def nearness(space: Space, vector: Vectors, rows: Rows) -> Floats:
    """Return the cosine of each row with one vector; 0 for rows without a vector in this space."""
    if not len(space.rows):
        return np.zeros(len(rows))
    places, known = places_among(space.rows, rows)
    return np.where(known, space.vectors[places] @ vector, 0.0)


def semantic(space: Space, question: Question, allowed: Mask, inside: tuple[Rows, Rows] | None = None) -> Semantic:
    """Compute the cosines of a question and its clauses with the allowed rows of a space.

    `inside` holds the rows of tools and of their servers: a server gets the largest cosine of its tools.
    """
    size = len(allowed)
    if not len(space.rows):
        return Semantic.silent(size)
    near = np.maximum(_products(np.vstack([question.asked, question.adapted, question.clauses]), space.vectors), 0.0)
    found = Semantic.silent(size)
    found.asked[space.rows] = near[0]
    found.whole[space.rows] = near[1]
    found.clause[space.rows] = near[2:].max(axis=0) if len(near) > 2 else near[1]
    if inside is not None:
        for near_to in (found.asked, found.whole, found.clause):
            np.maximum.at(near_to, inside[1], near_to[inside[0]])
    return Semantic(found.asked * allowed, found.whole * allowed, found.clause * allowed)


def _products(asked: Vectors, vectors: Vectors) -> Vectors:
    if len(asked) <= _ONE_BY_ONE:
        return np.stack([vectors @ vector for vector in asked])
    # One product for all, because a pass over 150 MB of vectors costs more than the arithmetic. It needs BLAS on one
    # thread (boot.threads); several threads wait 20 ms for each other on a busy machine.
    return asked @ vectors.T
