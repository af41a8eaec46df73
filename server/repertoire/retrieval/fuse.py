"""One score out of all evidence: learned weights that depend on the question, in parts that can be read.

A score is a log-odds: differences count, not its height. Each weight is a line over the conditions of the question
(how long it is, how flat the words' scores are, how long components are here), so that words count for more where
they tell more.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from repertoire.retrieval.arrays import Floats, Mask
from repertoire.retrieval.lexical import Lexical
from repertoire.retrieval.ranking_weights import WEIGHTS
from repertoire.retrieval.vector import Semantic

WORDS, SIMILARITY, KIND, CARRIED, PAST, GRAPH, NAME = (
    "words",
    "similarity",
    "kind",
    "carried",
    "requests",
    "graph",
    "name",
)
# the part that each feature belongs to; their order is that of WEIGHTS
FEATURES = (
    ("words, all fields", WORDS),
    ("words, name", WORDS),
    ("words, description", WORDS),
    ("words, body", WORDS),
    ("words, best clause", WORDS),
    ("body, of the nearest", SIMILARITY),
    ("description, of the nearest", SIMILARITY),
    ("body", SIMILARITY),
    ("description", SIMILARITY),
    ("body, turned, of the nearest", SIMILARITY),
    ("description, turned, of the nearest", SIMILARITY),
    ("body, turned", SIMILARITY),
    ("description, turned", SIMILARITY),
    ("body, nearest clause, of the nearest", SIMILARITY),
    ("description, nearest clause, of the nearest", SIMILARITY),
    ("kind that seldom answers", KIND),
    ("carried by many", CARRIED),
)
DESCRIPTION = next(place for place, (name, _) in enumerate(FEATURES) if name == "description, turned")
PRIORS = 2  # the last features: known without the question
CONDITIONS = ("always", "words", "clauses", "flatness", "length")


@dataclass(frozen=True)
class Features:
    """The evidence for every row (features by rows), the conditions under which it is weighed, how near each row is.

    `likeness` is to the question as it was asked: what a reader would call similar. `nearness` is to the turned one.
    """

    table: Floats
    conditions: Floats
    likeness: Floats
    nearness: Floats


def features(words: Lexical, body: Semantic, description: Semantic, priors: Floats, conditions: Floats) -> Features:
    """Put the evidence together; `priors` are the two rows of what is known without the question."""
    table = np.stack(
        [
            words.whole,
            words.name,
            words.description,
            words.body,
            words.clause,
            _of_best(body.asked),
            _of_best(description.asked),
            body.asked,
            description.asked,
            _of_best(body.whole),
            _of_best(description.whole),
            body.whole,
            description.whole,
            _of_best(body.clause),
            _of_best(description.clause),
            *priors,
        ]
    )
    likeness, nearness = np.maximum(body.asked, description.asked), np.maximum(body.whole, description.whole)
    return Features(table, conditions, likeness, nearness)


def conditions(words: Sequence[str], clauses: Sequence[str], *, flatness: float, length: float) -> Floats:
    """Return the conditions of a question; `length` is what a component usually has, in characters.

    Centred where most questions lie, so that the first weight of a feature is the usual one.
    """
    return np.array(
        [
            1.0,
            np.log1p(len(words)) / 3.0 - 0.8,
            np.log(max(len(clauses), 1)),
            flatness - 0.5,
            np.log(max(length, 1.0)) / 2.0 - 2.9,
        ]
    )


def fuse(evidence: Features) -> tuple[Floats, dict[str, Floats]]:
    """Return the score of every row, and the parts that add up to it."""
    weights = np.array(WEIGHTS) @ evidence.conditions
    contributions = weights[:, None] * evidence.table
    parts: dict[str, Floats] = {}
    for (_, part), contribution in zip(FEATURES, contributions, strict=True):
        parts[part] = parts[part] + contribution if part in parts else contribution
    return contributions.sum(axis=0), parts


def spoken_for(evidence: Features) -> Mask:
    """Return the rows that any word or vector speaks for."""
    return np.asarray(evidence.table[: len(FEATURES) - PRIORS].max(axis=0, initial=0.0) > 0.0)


def _of_best(scores: Floats) -> Floats:
    best = float(scores.max(initial=0.0))
    return scores / best if best > 0.0 else scores
