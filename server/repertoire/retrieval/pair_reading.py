"""Grades the best components again, after each was read together with the question (cross-encoder)."""

from __future__ import annotations

import numpy as np

from repertoire.domain.component import Component
from repertoire.ports import PairReader
from repertoire.retrieval.arrays import Floats
from repertoire.retrieval.relevance import GradedHead, RelevanceModel, score_of

PAIRS = "pairs"
# Components that are read at least and at most. A hint is made while somebody types on; the further members of a set
# are looked for among what was read. Of 12 the first serves no more often than of 8.
OF_HINT, OF_LIST, OF_SET = (2, 4), (4, 4), (4, 8)
_ROUND = 2  # components of each round but the first: the model reads two in little more time than one
# A further round is left out if its best lies this far, in log-odds, behind the best that was read: then a hint reads
# 2.6 on average, a set 4.5, and the first serves as often.
_REACH = 0.5
_OF_PLUGIN, _CHARACTERS = 40, 440  # of a text: more than the tokens that are read


def pair_text(component: Component) -> str:
    """Return what is read of a component: its type, its plugin, its name, its description."""
    plugin = f", {_words(component.plugin)[:_OF_PLUGIN]}" if component.plugin else ""
    kind = component.type.replace("_", " ")
    return f"{kind}{plugin}. {_words(component.name)}. {component.described}"[:_CHARACTERS]


def _words(name: str) -> str:
    return name.replace("-", " ")


def graded_again(
    head: GradedHead, reader: PairReader, model: RelevanceModel, bounds: tuple[int, int]
) -> tuple[Floats, int]:
    """Return the grades of a head, those of its best components anew by a model that sees what was read, and how many.

    The bounds tell how many are read at least, if there are so many, and at most.

    Raises:
        ModelUnavailable: the reader's model does not load.
    """
    handicaps = head.handicaps[:, np.newaxis]
    scores, found = score_of(head.grades - handicaps) + head.precedence, head.grades.copy()
    least, most = bounds
    order = np.argsort(-scores, kind="stable")[:most]
    best, read = -np.inf, 0
    while read < len(order) and (read < least or scores[order[read]] > best - _REACH):
        rows = order[read : read + (_ROUND if read else least)]
        told = reader.read_pairs([head.pairs[row] for row in rows])
        found[rows] = model.grades(np.concatenate([head.features[rows], told], axis=1))
        best, read = max(best, float(score_of(found[rows] - handicaps[rows]).max())), read + len(rows)
    return found, read
