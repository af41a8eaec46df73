"""Grades each component at the head of an answer: the log-odds that it serves the question, and that it helps.

The stages before weigh their evidence one by one. Which evidence counts depends on the rest: a name that holds the
question's words tells little where the capabilities that it implies lie elsewhere. A perceptron reads all of it. It was
learned on plain tasks for which components were graded (bench/quality/graded_tasks): 2 serves, 1 helps, 0 neither.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from repertoire.retrieval.arrays import Floats

RELEVANCE = "relevance"
FILE = Path(__file__).with_name("relevance.npz")
_HELPING = 0.5  # weight of helping beside serving
_FARTHEST = 5.0  # deviations from the mean beyond which a feature tells no more


@dataclass(frozen=True)
class RelevanceModel:
    """A perceptron from a component's features to two log-odds, learned for one query encoder.

    Shapes: features by 2 (`direct`), features by hidden units, hidden units by 2.
    """

    query_encoder: str
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
        arrays = {name: value for name, value in vars(self).items() if name != "query_encoder"}
        np.savez_compressed(path, reading=np.array(self.query_encoder), **arrays)


def relevance_model_for(query_encoder: str, path: Path = FILE) -> RelevanceModel | None:
    """Return the model that was learned for exactly this query encoder; None where there is none."""
    if not path.is_file():
        return None
    with np.load(path) as kept:
        if str(kept["reading"]) != query_encoder:
            return None
        arrays = {name: kept[name].astype(np.float64) for name in kept.files if name != "reading"}
        return RelevanceModel(query_encoder, **arrays)


def score_of(grades: Floats) -> Floats:
    """Return the log-odds by which graded rows are ranked."""
    return np.asarray(grades[:, 0] + _HELPING * grades[:, 1])
