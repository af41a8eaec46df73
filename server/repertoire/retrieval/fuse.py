"""Computes one score for each row from all evidence, as a sum of named parts, with weights that depend on the question.

A score is a log-odds of which only differences count, not the height. Each weight is a linear function of the
question's conditions (its length, how flat the full-text scores are, how long components are), so that full text
counts for more where it tells components apart.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from repertoire.retrieval.arrays import Floats, Mask
from repertoire.retrieval.exact_copies import Copies
from repertoire.retrieval.lexical import Lexical
from repertoire.retrieval.ranking_weights import WEIGHTS
from repertoire.retrieval.vector import Semantic

# parts of the score that more than one module adds to or reads
WORDS, SIMILARITY, KIND, CARRIED, ASKED_TYPE, PAST, GRAPH, NAME = (
    "words",
    "similarity",
    "kind",
    "carried",
    "type",
    "requests",
    "graph",
    "name",
)
# Features in the order of WEIGHTS, each with the part of the score that it belongs to. "adapted" is the query vector
# with the adapter, "of the nearest" a cosine divided by the largest one.
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
    ("body, adapted, of the nearest", SIMILARITY),
    ("description, adapted, of the nearest", SIMILARITY),
    ("body, adapted", SIMILARITY),
    ("description, adapted", SIMILARITY),
    ("body, nearest clause, of the nearest", SIMILARITY),
    ("description, nearest clause, of the nearest", SIMILARITY),
    ("kind that seldom answers", KIND),
    ("carried by many", CARRIED),
)
DESCRIPTION = next(place for place, (name, _) in enumerate(FEATURES) if name == "description, adapted")
PRIORS = 2  # number of features at the end of FEATURES that do not depend on the question
CONDITIONS = ("always", "words", "clauses", "flatness", "length")


@dataclass(frozen=True)
class Features:
    """The feature table (features by rows), the conditions that set its weights, and two cosines for every row.

    `likeness` is the cosine to the question's plain vector, `nearness` the cosine to its adapted vector.
    """

    table: Floats
    conditions: Floats
    likeness: Floats
    nearness: Floats


def features(words: Lexical, body: Semantic, description: Semantic, priors: Floats, conditions: Floats) -> Features:
    """Build the feature table from full-text scores, cosines and the two priors of every row."""
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


def shared(evidence: Features, copies: Copies) -> Features:
    """Return the evidence with the largest of all exact copies for each of them.

    Of a copy in a repository more is found: with it stand the words that the catalogue has for it.
    """
    asked = len(FEATURES) - PRIORS
    table = np.concatenate([[copies.largest(row) for row in evidence.table[:asked]], evidence.table[asked:]])
    likeness, nearness = copies.largest(evidence.likeness), copies.largest(evidence.nearness)
    return Features(table, evidence.conditions, likeness, nearness)


def conditions(words: Sequence[str], clauses: Sequence[str], *, flatness: float, length: float) -> Floats:
    """Return the numbers of a question that set the fusion weights; `length`: a component's usual characters.

    They are centred on the usual question, so that the first weight of a feature holds for it.
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
    """Return the score of every row, and the named parts that sum up to it."""
    weights = np.array(WEIGHTS) @ evidence.conditions
    contributions = weights[:, None] * evidence.table
    parts: dict[str, Floats] = {}
    for (_, part), contribution in zip(FEATURES, contributions, strict=True):
        parts[part] = parts[part] + contribution if part in parts else contribution
    return contributions.sum(axis=0), parts


def matched_rows(evidence: Features) -> Mask:
    """Return the mask of rows that match the question by any word or vector."""
    return np.asarray(evidence.table[: len(FEATURES) - PRIORS].max(axis=0, initial=0.0) > 0.0)


def _of_best(scores: Floats) -> Floats:
    best = float(scores.max(initial=0.0))
    return scores / best if best > 0.0 else scores
