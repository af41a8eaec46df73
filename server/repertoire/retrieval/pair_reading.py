"""Grades the best components again, after each was read together with the question (cross-encoder)."""

from __future__ import annotations

import numpy as np

from repertoire.domain.component import Component
from repertoire.ports import PairReader
from repertoire.retrieval.arrays import Floats
from repertoire.retrieval.relevance import GradedHead, RelevanceModel, score_of

PAIRS = "pairs"
MOST = 4  # components that are read: on held-out tasks the first place of four is as good as that of forty
_CHARACTERS = 400  # of a text: more than the tokens that are read


def pair_text(component: Component) -> str:
    """Return what is read of a component."""
    return f"{component.name.replace('-', ' ')}. {component.description}"[:_CHARACTERS]


def graded_again(head: GradedHead, question: str, reader: PairReader, model: RelevanceModel) -> Floats:
    """Return the grades of a head, those of its best components anew by a model that also sees what was read.

    Raises:
        ModelUnavailable: the reader's model does not load.
    """
    best = np.argsort(-score_of(head.grades), kind="stable")[:MOST]
    read = reader.read_pairs(question, [head.texts[place] for place in best])
    found = head.grades.copy()
    found[best] = model.grades(np.concatenate([head.features[best], read], axis=1))
    return found
