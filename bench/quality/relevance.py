"""Learns how well components serve a task from graded answers: `relevance.py HOME…` rewrites retrieval/relevance.npz.

With `--pairs FILE`, which pairs.py and further_pairs.py wrote, it also rewrites retrieval/pair_relevance.npz: that
model reads besides what a pair encoder that did not see the task tells of each component. It learns from what the
further folders of graded.py give too; the model without pairs gained nothing by them.

A perceptron of one hidden layer, three of them averaged, from what the pipeline finds about a component to the log-odds
that it serves and that it helps. Its loss is that of both grades of each component, and that of the best components of
each task among all of it. Each task is asked of the first home that holds what was graded. `--check` holds a fifth of
the tasks out, five times, and compares the order with that of the stages before. Needs torch beside the product's
packages; takes ten minutes on two cores.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import compress
from operator import not_
from pathlib import Path

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parents[1] / "server"))

from graded import TASKS, Lesson, lessons, plain  # noqa: E402
from inside import graded  # noqa: E402

from repertoire.app.wiring import open_repertoire  # noqa: E402
from repertoire.domain.answer import Query  # noqa: E402
from repertoire.inference.weights import bundled  # noqa: E402
from repertoire.retrieval.pipeline import Pipeline  # noqa: E402
from repertoire.retrieval.relevance import FILE, PAIR_FILE, RelevanceModel, pair_reading, score_of  # noqa: E402
from repertoire.retrieval.relevance_features import EVIDENCE, HEAD  # noqa: E402

HIDDEN, DROPPED, NETWORKS = 32, 0.3, 3
EPOCHS, BATCH, RATE, DECAY = 15, 16, 3e-3, 0.05  # a batch is of tasks
OF_ORDER = 0.5  # weight of the loss of the order beside that of the grades
FOLDS, SEED = 5, 0


@dataclass(frozen=True)
class Graded:
    """A task's components that were graded: their features, grades, and log-odds by the stages before."""

    lesson: Lesson
    keys: list[str]
    features: np.ndarray
    grades: np.ndarray
    before: np.ndarray


def read(homes: Sequence[Path], *, further: bool) -> tuple[list[Graded], str]:
    """Return what is learned from, each task asked of the first home that holds it, and the query encoder."""
    tasks = [task for task in lessons(further=further) if task.grades]
    found, query_encoder = [], ""
    for home in homes:
        with open_repertoire(home, environment={"REPERTOIRE_QUERY_MS": "60000"}, read_only=True) as opened:
            known = {plain(summary.id): summary.id for summary in opened.store.graph.summaries()}
            query_encoder = opened.embedder.query_encoder if opened.embedder is not None else ""
            holds = [known.keys() >= task.grades.keys() for task in tasks]
            found += [_graded(opened.pipeline, task, known) for task in compress(tasks, holds)]
            tasks = list(compress(tasks, map(not_, holds)))
    return found, query_encoder


def _graded(pipeline: Pipeline, task: Lesson, known: Mapping[str, str]) -> Graded:
    grades = {known[name]: grade for name, grade in task.grades.items()}
    keys, features = graded(pipeline, Query(task.text, project=task.project), keys=grades, limit=HEAD)
    rows = [place for place, key in enumerate(keys) if key in grades]
    kept = features[rows]
    values = np.array([grades[keys[place]] for place in rows])
    ids = [plain(keys[place]) for place in rows]
    return Graded(task, ids, kept, values, kept[:, : len(EVIDENCE)].sum(axis=1))


def with_pairs(taught: Sequence[Graded], file: Path) -> list[Graded]:
    """Return the tasks with what was told of pairs as further features; components without it are left out."""
    rows_of = map(json.loads, file.read_text(encoding="utf-8").splitlines())
    told = {(row["kind"], row["project"], row["text"]): row["read"] for row in rows_of}
    found = []
    for task in taught:
        read = told.get((task.lesson.kind, Path(task.lesson.project).name, task.lesson.text), {})
        rows = [place for place, key in enumerate(task.keys) if key in read]
        if rows:
            keys = [task.keys[place] for place in rows]
            features = np.concatenate([task.features[rows], np.array([read[key] for key in keys])], axis=1)
            kept = {"keys": keys, "features": features, "grades": task.grades[rows], "before": task.before[rows]}
            found.append(replace(task, **kept))
    return found


class Network(nn.Module):
    """A perceptron beside a linear function of the same features, with two outputs."""

    def __init__(self, features: int) -> None:
        super().__init__()
        self.direct = nn.Linear(features, 2)
        self.inner = nn.Linear(features, HIDDEN)
        self.outer = nn.Linear(HIDDEN, 2, bias=False)
        self.drop = nn.Dropout(DROPPED)
        for weights in (self.direct.weight, self.direct.bias, self.outer.weight):
            nn.init.zeros_(weights)

    def forward(self, seen: Tensor) -> Tensor:
        """Return the log-odds of serving and of helping."""
        hidden = functional.relu(self.inner(self.drop(seen)))
        return self.direct(seen) + self.outer(self.drop(hidden))


def learn(taught: Sequence[Graded], reading: str) -> RelevanceModel:
    """Return what the graded tasks teach."""
    stacked = np.concatenate([task.features for task in taught])
    means, deviations = stacked.mean(axis=0), stacked.std(axis=0) + 1e-3
    seen = [
        torch.tensor(np.clip((task.features - means) / deviations, -5.0, 5.0), dtype=torch.float32) for task in taught
    ]
    networks = [_fit(seen, [torch.tensor(task.grades) for task in taught], SEED + place) for place in range(NETWORKS)]
    parts = [
        [weights.detach().numpy().astype(np.float64) for weights in (
            one.direct.weight.T, one.direct.bias, one.inner.weight.T, one.inner.bias, one.outer.weight.T)]
        for one in networks
    ]  # fmt: skip
    direct, offsets, of_features, hidden_offsets, of_hidden = zip(*parts, strict=True)
    return RelevanceModel(
        reading,
        means,
        deviations,
        np.mean(direct, axis=0),
        np.concatenate(of_features, axis=1),
        np.concatenate(hidden_offsets),
        np.concatenate(of_hidden) / NETWORKS,
        np.mean(offsets, axis=0),
    )


def _fit(seen: Sequence[Tensor], grades: Sequence[Tensor], seed: int) -> Network:
    torch.manual_seed(seed)
    chance = np.random.default_rng(seed)
    network = Network(seen[0].shape[1])
    optimizer = torch.optim.AdamW(network.parameters(), lr=RATE, weight_decay=DECAY)
    batches = [(epoch, at) for epoch in range(EPOCHS) for at in range(0, len(seen), BATCH)]
    order = chance.permutation(len(seen))
    for step, (_, at) in enumerate(batches):
        if at == 0:
            order = chance.permutation(len(seen))
        for group in optimizer.param_groups:
            group["lr"] = RATE * (1.0 - step / len(batches))
        batch = order[at : at + BATCH]
        loss = _loss(network, [seen[row] for row in batch], [grades[row] for row in batch])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    return network.eval()


def _loss(network: Network, seen: Sequence[Tensor], grades: Sequence[Tensor]) -> Tensor:
    odds, given = network(torch.cat(list(seen))), torch.cat(list(grades))
    loss = 2.0 * functional.binary_cross_entropy_with_logits(odds, torch.stack([given >= 2, given >= 1], dim=1).float())
    order = []
    for found, gains in zip(odds.split([len(one) for one in seen]), ((2.0**one - 1.0) for one in grades), strict=True):
        if gains.sum() > 0:
            likely = torch.log_softmax(found[:, 0] + 0.5 * found[:, 1], dim=0)
            order.append(-(gains / gains.sum() * likely).sum())
    return loss + OF_ORDER * torch.stack(order).mean() if order else loss


def check(taught: Sequence[Graded], reading: str) -> None:
    """Print figures of the order among graded components, before and after, for tasks that were held out."""
    after: list[np.ndarray] = [np.zeros(0)] * len(taught)
    serves: list[np.ndarray] = [np.zeros(0)] * len(taught)
    for fold in np.array_split(np.random.default_rng(SEED).permutation(len(taught)), FOLDS):
        held = set(fold.tolist())
        model = learn([task for place, task in enumerate(taught) if place not in held], reading)
        for place in held:
            grades = model.grades(taught[place].features)
            after[place], serves[place] = score_of(grades), grades[:, 0]
    for name, scores in (("before", [task.before for task in taught]), ("after", after)):
        figures = [_figures(task.grades, score) for task, score in zip(taught, scores, strict=True) if 2 in task.grades]
        first, useless, gain = 100.0 * np.mean(figures, axis=0)
        print(f"{name}: {len(figures)} tasks, first serves {first:.1f}, is of no use {useless:.1f}, nDCG@10 {gain:.1f}")
    leads = [
        (one[score.argmax()], task.grades[score.argmax()])
        for task, one, score in zip(taught, serves, after, strict=True)
    ]
    odds, right = np.array([lead[0] for lead in leads]), np.array([lead[1] == 2 for lead in leads])
    likely = 1.0 / (1.0 + np.exp(-odds))
    surer = _pairs(odds, right)
    print(f"first: serves {right.mean():.3f}, held likely {likely.mean():.3f}, surer in {surer:.3f} of pairs")


def _figures(grades: np.ndarray, score: np.ndarray) -> tuple[float, float, float]:
    found = grades[np.argsort(-score, kind="stable")]
    gains, ideal = (2.0 ** one[:10] - 1.0 for one in (found, np.sort(grades)[::-1]))
    discount = 1.0 / np.log2(np.arange(len(gains)) + 2.0)
    return float(found[0] == 2), float(found[0] == 0), float((gains * discount).sum() / (ideal * discount).sum())


def _pairs(odds: np.ndarray, right: np.ndarray) -> float:
    wrong = np.sort(odds[~right])
    return float(np.mean(np.searchsorted(wrong, odds[right]) / max(len(wrong), 1)))


def main() -> None:
    """Learn and write, or check."""
    parser = argparse.ArgumentParser()
    parser.add_argument("homes", nargs="+", type=Path)
    parser.add_argument("--pairs", type=Path, help="what pairs.py and further_pairs.py told of each half of the tasks")
    parser.add_argument("--check", action="store_true")
    given = parser.parse_args()
    taught, query_encoder = read(given.homes, further=given.pairs is not None)
    models = [(FILE, query_encoder, [task for task in taught if task.lesson.kind == TASKS.parent.name])]
    if given.pairs:
        reading = pair_reading(query_encoder, bundled().pair_encoder)
        models.append((PAIR_FILE, reading, with_pairs(taught, given.pairs)))
    for file, encoders, tasks in models:
        if given.check:
            check(tasks, encoders)
        else:
            learn(tasks, encoders).save(file)
            print(f"{file.name}: {len(tasks)} tasks, {file.stat().st_size:,} bytes")


if __name__ == "__main__":
    main()
