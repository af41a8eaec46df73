#!/usr/bin/env python3
"""Learns how sure an answer without grades is: `ungraded.py HOME [--unseen SPLIT] [--without PART]…`.

Where nothing was graded (no vectors, a busy machine, another model), the confidence is a logistic regression over what
the words tell (`retrieval/confidence.WordFeatures`). It is learned on graded_tasks/ asked without vectors of a home
that holds what was graded, tells whether the first hit serves, and is printed as WORDS_GATE. With `--unseen` the
weights that ship are measured on that split of unseen_tasks/ instead, asked without the parts that `--without` names
(vectors; `relevance` is a busy machine; `relevance meant need vague` is another model). Takes half a minute.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Mapping, Sequence
from dataclasses import astuple
from pathlib import Path

import numpy as np

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parents[1] / "server"))

from graded import SERVES, Graded, calibration, lessons, plain  # noqa: E402
from inside import word_features  # noqa: E402

from repertoire.app.wiring import open_repertoire  # noqa: E402
from repertoire.domain.answer import Query  # noqa: E402
from repertoire.retrieval.confidence import WordFeatures, words_confidence  # noqa: E402
from repertoire.retrieval.ranking_weights import WORDS_GATE  # noqa: E402

DECAY = 0.3  # penalty on the square of each weight but the constant
STEPS = 60

Asked = Sequence[tuple[str, Mapping[str, int]]]  # a task's text, and the grades of components


def graded_tasks() -> Asked:
    """Return the tasks that are learned from."""
    return [(task.text, task.grades) for task in lessons(further=False)]


def unseen_tasks(split: str) -> Asked:
    """Return the tasks that are measured."""
    found = Graded.read(HERE / "unseen_tasks", split)
    return [(task["text"], found.grades.get(task["id"], {})) for task in found.tasks]


def judged(home: Path, asked: Asked, without: frozenset[str], *, whole: bool) -> tuple[np.ndarray, np.ndarray]:
    """Return the features of each task's first hit with a constant, and whether it serves.

    With `whole`, tasks of which the home lacks a graded component are left out.
    """
    rows, serves = [], []
    with open_repertoire(home, environment={"REPERTOIRE_QUERY_MS": "60000"}, read_only=True) as opened:
        known = {plain(summary.id) for summary in opened.store.graph.summaries()}
        for text, grades in asked:
            if whole and not (grades and known >= grades.keys()):
                continue
            found = word_features(opened.pipeline, Query(text, without=without))
            if found is not None:
                rows.append((*astuple(found[1]), 1.0))
                serves.append(grades.get(plain(found[0])) == SERVES)
    return np.array(rows), np.array(serves)


def learn(features: np.ndarray, serves: np.ndarray) -> np.ndarray:
    """Return the weights of a logistic regression, by Newton's method."""
    penalty = DECAY * np.diag([*np.ones(features.shape[1] - 1), 1e-9])
    weights = np.zeros(features.shape[1])
    for _ in range(STEPS):
        chance = 1.0 / (1.0 + np.exp(-features @ weights))
        slope = features.T @ (chance - serves) + penalty @ weights
        curve = (features.T * (chance * (1.0 - chance))) @ features + penalty
        weights -= np.linalg.solve(curve, slope)
    return weights


def main() -> None:
    """Learn and print the weights, or measure those that ship."""
    parser = argparse.ArgumentParser()
    parser.add_argument("home", type=Path)
    parser.add_argument("--unseen", help="a split of unseen_tasks/: eight or six")
    parser.add_argument("--without", nargs="+", default=["vectors"])
    given = parser.parse_args()
    asked = unseen_tasks(given.unseen) if given.unseen else graded_tasks()
    features, serves = judged(given.home, asked, frozenset(given.without), whole=not given.unseen)
    if given.unseen:
        weights, implied = np.array(WORDS_GATE), not {"vectors", "meant"} & {*given.without}
        chance = np.array([words_confidence(WordFeatures(*row[:-1]), implied=implied) for row in features.tolist()])
    else:
        weights = learn(features, serves)
        chance = 1.0 / (1.0 + np.exp(-features @ weights))
    found = calibration({"Confidence": chance, "Good": serves.astype(float)})
    print("weights:", ", ".join(f"{weight:.2f}" for weight in weights))
    print(f"{len(serves)} tasks, first serves {serves.mean():.2f}, held likely {chance.mean():.2f}; ", end="")
    print(f"calibration error {found.error:.1f}, mean chance of what does not serve {found.sure:.2f}")


if __name__ == "__main__":
    main()
