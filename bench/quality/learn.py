"""Learns the weights of retrieval on the train splits: `python bench/quality/learn.py` rewrites ranking_weights.py.

Four parts, each with what the one before has written. WEIGHTS and RERANK minimise the surprise at what truly answers
among the likeliest candidates (a softmax over them), every set counting the same whatever its size. No question is
weighed with a reading that was learned from it: `--halves` names the folder into which questions.py wrote those of
either half. GATE is a logistic regression: cc_native's requests within their repositories against MetaTool's, which no
Claude Code component serves. SUBJECT tells the same by what is asked alone (retrieval/subject.npz).
"""

from __future__ import annotations

import argparse
import contextlib
import re
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "server"), str(ROOT / "bench" / "quality")]

from inside import confidence_features, look  # noqa: E402
from inside import evidence as evidence_of  # noqa: E402
from judge import read_labels  # noqa: E402
from opening import labelled_sets, shipped_model  # noqa: E402

from repertoire.app.measure.labelled import fill, read_set  # noqa: E402
from repertoire.domain.answer import Query  # noqa: E402
from repertoire.inference.embedder import load  # noqa: E402
from repertoire.inference.weights import bundled  # noqa: E402
from repertoire.ports import Embedder  # noqa: E402
from repertoire.retrieval.fuse import PRIORS  # noqa: E402
from repertoire.retrieval.pipeline import Pipeline  # noqa: E402
from repertoire.retrieval.subject import FILE as SUBJECT_FILE  # noqa: E402
from repertoire.retrieval.subject import SubjectModel  # noqa: E402
from repertoire.store.database import Store  # noqa: E402

LEARNED = ROOT / "server" / "repertoire" / "retrieval" / "ranking_weights.py"
SETS = ("cc_native", "cc_bundles", "ultratool", "metatool_multi", "metatool_single", "sealtools", "toolret_apigen")
LENIENT = ("cc_native",)
SCOPED = ("cc_native",)  # asked again of each query's own repository: the case of one installed plugin
TURNED = ("cc_native", "cc_bundles", "sealtools", "toolret_apigen")
QUERIES, CANDIDATES, HEAD = 500, 150, 30
PARTS = ("WEIGHTS", "RERANK", "GATE", "SUBJECT")
TOLD_APART = frozenset({"rerank", "graph", "patterns", "learning"})  # cc_bundles' edges know its train plugins
STEPS, RATE, DECAY = 400, 0.05, 0.003
# what is asked of Claude Code components, and of others, with what each counts
SUBJECTS = {"cc_native": 0.5, "metatool_single": 0.25, "sealtools": 0.0625, "toolret_apigen": 0.0625}
SUBJECTS |= {"ultratool": 0.0625, "metatool_multi": 0.0625}
SUBJECT_SCALE, SUBJECT_STEPS, SUBJECT_RATE, SUBJECT_DECAY = 10.0, 1500, 0.02, 0.003
GATE_STEPS, GATE_RATE, GATE_DECAY = 3000, 0.5, 0.01


@dataclass(frozen=True)
class Example:
    """One query: the features of its candidates, its conditions, which candidates answer it, their odds without it."""

    table: np.ndarray
    conditions: np.ndarray
    gold: np.ndarray
    odds: np.ndarray
    weight: float = 0.0


def main() -> int:
    """Learn and write."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--cache", type=Path, help="keep the vectors of the corpora here")
    parser.add_argument("--part", choices=PARTS, help="this one alone")
    parser.add_argument("--halves", type=Path, required=True, help="where questions.py wrote what either half taught")
    options = parser.parse_args()
    data = labelled_sets(parser)
    embedder = shipped_model(parser)
    if options.part is None:
        for part in PARTS:  # in processes of their own: weights are read when their module is imported
            subprocess.run([sys.executable, *sys.argv, "--part", part], check=True)
        return 0
    with contextlib.ExitStack() as stack:
        stores = {name: stack.enter_context(filled(data / name, options.cache, embedder)) for name in SETS}
        readers = {None: embedder} | {half: reader(options.halves / f"questions-{half}.npz") for half in (0, 1)}
        pipelines = {
            (name, half): Pipeline(store.graph, store.vectors, embedder=readers[half])
            for name, store in stores.items()
            for half in ((0, 1) if name in TURNED else (None,))
        }
        if options.part == "SUBJECT":
            learn_subject(data, embedder).save()
            print(f"written to {SUBJECT_FILE.relative_to(ROOT)}", flush=True)
            return 0
        if options.part == "GATE":
            write("GATE", [learn_gate(pipelines, data)], digits=2)
            return 0
        examples: list[Example] = []
        take = candidates if options.part == "WEIGHTS" else head
        for name in SETS:
            examples += read_examples(pipelines, name, data / name, take)
            if name in SCOPED:
                examples += read_examples(pipelines, name, data / name, take, scoped=True)
            print(f"{options.part}, {name}: {len(examples)} examples so far", flush=True)
    learned = learn_weights(examples)
    write(options.part, learned if options.part == "WEIGHTS" else learned.T, digits=3)
    return 0


@contextlib.contextmanager
def filled(folder: Path, cache: Path | None, embedder: Embedder) -> Iterator[Store]:
    """Put a set into a throw-away store."""
    with tempfile.TemporaryDirectory(prefix="repertoire-learn-") as place, Store.open(Path(place) / "e.db") as store:
        fill(store, read_set(folder), embedder, cache=cache, tell=print)
        yield store


def reader(questions: Path) -> Embedder:
    """Return the bundled model with another reading of questions."""
    return load(replace(bundled(), questions=str(questions.resolve())))


def half_of(values: np.ndarray | list, left_out: int | None) -> np.ndarray | list:
    """Return every value, or those of the other half."""
    return values if left_out is None else values[1 - left_out :: 2]


def answered(folder: Path, *, lenient: bool = False) -> tuple[list[dict], dict[str, set[str]]]:
    """Return the train queries that something answers, spread over the split where it is large, and what does."""
    labels = read_labels(folder, "train", lenient=lenient)
    queries = [query for query in labels.queries if labels.gold.get(query["id"])]
    step = max(1, len(queries) // QUERIES)
    return queries[::step][:QUERIES], labels.gold


def read_examples(
    pipelines: dict, name: str, folder: Path, take: Callable[..., Example], *, scoped: bool = False
) -> list[Example]:
    """Return the examples of a set, each read with a turn that was not learned from it."""
    queries, _ = answered(folder)
    gold = read_labels(folder, "train", lenient=name in LENIENT).gold
    found = [
        take(
            pipelines[name, index % 2 if name in TURNED else None],
            Query(query["text"], repository=query["repo"] if scoped else "", without=TOLD_APART),
            gold[query["id"]],
        )
        for index, query in enumerate(queries)
    ]
    told = [one for one in found if one.gold.any()]
    return [replace(one, weight=1.0 / len(told)) for one in told]


def candidates(pipeline: Pipeline, query: Query, gold: set[str]) -> Example:
    """Return the evidence for the likeliest candidates and for what truly answers."""
    snapshot, evidence = evidence_of(pipeline, query)
    scores = evidence.table[:-PRIORS].mean(axis=0)
    right = np.isin(snapshot.column("id"), sorted(gold))
    if query.repository:
        elsewhere = snapshot.column("repository") != query.repository
        right, scores = right & ~elsewhere, np.where(elsewhere, -1.0, scores)
    rows = np.union1d(np.argsort(-scores, kind="stable")[:CANDIDATES], np.flatnonzero(right))
    return Example(evidence.table[:, rows].T, evidence.conditions, right[rows], np.zeros(len(rows)))


def head(pipeline: Pipeline, query: Query, gold: set[str]) -> Example:
    """Return what a second look at the head sees, beside the odds that it has so far."""
    ids, odds, features = look(pipeline, query, limit=HEAD)
    return Example(features, np.ones(1), np.isin(ids, sorted(gold)), odds)


def learn_weights(examples: list[Example]) -> np.ndarray:
    """Descend the softmax's surprise with Adam; a decay keeps what the examples do not ask for at nothing."""
    width = max(len(one.table) for one in examples)
    shape = examples[0].table.shape[1], len(examples[0].conditions)
    table = np.zeros((len(examples), width, shape[0]))
    target = np.zeros((len(examples), width))
    outside = np.full((len(examples), width), -np.inf)
    for index, one in enumerate(examples):
        size = len(one.table)
        table[index, :size], outside[index, :size] = one.table, one.odds
        target[index, :size] = one.gold / one.gold.sum()
    conditions = np.stack([one.conditions for one in examples])
    importance = np.array([one.weight for one in examples])
    importance /= importance.sum()
    weights = np.zeros(shape)
    mean, square = np.zeros_like(weights), np.zeros_like(weights)
    for step in range(1, STEPS + 1):
        odds = np.einsum("qnf,qf->qn", table, conditions @ weights.T) + outside
        likely = np.exp(odds - odds.max(axis=1, keepdims=True))
        likely /= likely.sum(axis=1, keepdims=True)
        wrong = (likely - target) * importance[:, None]
        slope = np.einsum("qn,qnf,qc->fc", wrong, table, conditions, optimize=True) + DECAY * weights
        mean = 0.9 * mean + 0.1 * slope
        square = 0.999 * square + 0.001 * slope**2
        weights -= RATE * (mean / (1 - 0.9**step)) / (np.sqrt(square / (1 - 0.999**step)) + 1e-8)
    return weights


def learn_gate(pipelines: dict, data: Path) -> np.ndarray:
    """Tell requests that a repository serves from those that none does."""
    served, _ = answered(data / "cc_native")
    others = read_labels(data / "metatool_single", "train").queries[: len(served)]
    homes = sorted({query["repo"] for query in served})
    asked = [(query["text"], query["repo"], index % 2) for index, query in enumerate(served)]
    asked += [(query["text"], homes[index % len(homes)], index % 2) for index, query in enumerate(others)]
    judged = [
        confidence_features(pipelines["cc_native", half], Query(text, repository=home)) for text, home, half in asked
    ]
    rows = np.array([[*one, 1.0] for one in judged])
    wanted = np.repeat([1.0, 0.0], [len(served), len(others)])
    scale = np.append(rows[:, :-1].std(axis=0), 1.0)
    gate = np.zeros(rows.shape[1])
    for _ in range(GATE_STEPS):
        sure = 1.0 / (1.0 + np.exp(-(rows / scale) @ gate))
        slope = (rows / scale).T @ (sure - wanted) / len(rows) + GATE_DECAY * np.append(gate[:-1], 0.0)
        gate -= GATE_RATE * slope
    return gate / scale


def learn_subject(data: Path, embedder: Embedder) -> SubjectModel:
    """Tell what is asked of Claude Code components from what is asked of other tools; MetaTool's counts half."""
    asked = {name: embedder.embed_queries([query["text"] for query in answered(data / name)[0]]) for name in SUBJECTS}
    rows = np.vstack(list(asked.values())).astype(np.float64)
    wanted = np.repeat([1.0, *[0.0] * (len(SUBJECTS) - 1)], [len(part) for part in asked.values()])
    share = np.repeat(list(SUBJECTS.values()), [len(part) for part in asked.values()])
    share = share / np.repeat([len(part) for part in asked.values()], [len(part) for part in asked.values()])
    table = np.column_stack([SUBJECT_SCALE * rows, np.ones(len(rows))])
    weights, mean, square = (np.zeros(table.shape[1]) for _ in range(3))
    for step in range(1, SUBJECT_STEPS + 1):
        sure = 1.0 / (1.0 + np.exp(-table @ weights))
        slope = table.T @ ((sure - wanted) * share) + SUBJECT_DECAY * np.append(weights[:-1], 0.0)
        mean = 0.9 * mean + 0.1 * slope
        square = 0.999 * square + 0.001 * slope**2
        weights -= SUBJECT_RATE * (mean / (1 - 0.9**step)) / (np.sqrt(square / (1 - 0.999**step)) + 1e-8)
    return SubjectModel(embedder.query_encoder, (SUBJECT_SCALE * weights[:-1]).astype(np.float32), float(weights[-1]))


def write(name: str, rows: np.ndarray | list[np.ndarray], *, digits: int) -> None:
    """Replace one table of numbers in retrieval/ranking_weights.py."""
    lines = [", ".join(f"{value:.{digits}f}" for value in row) for row in rows]
    lines = lines[0].split(", ") if len(lines) == 1 else [f"({line})" for line in lines]
    table = "".join(f"    {line},\n" for line in lines)
    text = LEARNED.read_text(encoding="utf-8")
    text = re.sub(rf"^{name} = \(\n(?:    .*\n)+\)$", f"{name} = (\n{table})", text, flags=re.MULTILINE)
    LEARNED.write_text(text, encoding="utf-8")
    print(f"{name} written to {LEARNED.relative_to(ROOT)}", flush=True)


if __name__ == "__main__":
    raise SystemExit(main())
