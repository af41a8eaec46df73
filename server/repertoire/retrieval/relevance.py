"""Grades each component at the head of an answer: the log-odds that it serves the question, and that it helps.

The stages before weigh their evidence one by one. Which evidence counts depends on the rest: a name that holds the
question's words tells little where the capabilities that it implies lie elsewhere. A perceptron reads all of it. It was
learned on plain tasks for which components were graded (bench/quality/graded_tasks): 2 serves, 1 helps, 0 neither. A
second perceptron also reads what the pair encoder says of a component.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np

from repertoire.retrieval.arrays import Floats, Rows
from repertoire.retrieval.learned_arrays import arrays_for

RELEVANCE = "relevance"
FILE, PAIR_FILE = (Path(__file__).with_name(name) for name in ("relevance.npz", "pair_relevance.npz"))
_HELPING = 0.5  # weight of helping beside serving
_FARTHEST = 5.0  # deviations from the mean beyond which a feature tells no more


@dataclass(frozen=True)
class RelevanceModel:
    """A perceptron from a component's features to two log-odds, learned for the encoders that `reading` names.

    Shapes: features by 2 (`direct`), features by hidden units, hidden units by 2.
    """

    reading: str
    means: Floats
    deviations: Floats
    direct: Floats
    of_features: Floats
    hidden_offsets: Floats
    of_hidden: Floats
    offsets: Floats

    def grades(self, features: Floats) -> Floats:
        """Return the log-odds of serving and of helping, one row for each row of features."""
        seen = np.clip((features - self.means) / self.deviations, -_FARTHEST, _FARTHEST)
        hidden = np.maximum(seen @ self.of_features + self.hidden_offsets, 0.0)
        return np.asarray(seen @ self.direct + hidden @ self.of_hidden + self.offsets)

    def save(self, path: Path = FILE) -> None:
        """Write the model to a file."""
        arrays = {name: value for name, value in vars(self).items() if name != "reading"}
        np.savez_compressed(path, reading=np.array(self.reading), **arrays)


@dataclass(frozen=True)
class GradedHead:
    """The rows that were graded: features, grades, and for each the question and the text that are read together.

    `handicaps` are taken from both grades of each row, whichever model gave them; `precedence` raises a row, in
    log-odds, where it is chosen what is read.
    """

    rows: Rows
    features: Floats
    grades: Floats
    pairs: Sequence[tuple[str, str]]
    handicaps: Floats
    precedence: Floats


@cache
def relevance_model_for(reading: str, path: Path = FILE) -> RelevanceModel | None:
    """Return the model that was learned for exactly these encoders, read once a process; None if there is none."""
    kept = arrays_for(path, reading)
    if kept is None:
        return None
    return RelevanceModel(reading, **{name: values.astype(np.float64) for name, values in kept.items()})


def pair_reading(query_encoder: str, pair_encoder: str) -> str:
    """Return the name of both encoders, for the model that reads what either says."""
    return f"{query_encoder} {pair_encoder}"


def score_of(grades: Floats) -> Floats:
    """Return the log-odds by which graded rows are ranked."""
    return np.asarray(grades[:, 0] + _HELPING * grades[:, 1])
