"""Learns the weights of retrieval on the train splits: `python bench/quality/learn.py` rewrites retrieval/learned.py.

First the turn of questions towards what answers them (retrieval/adapter.npz), on sets whose answers are many and their
texts telling: what it learns must hold for components that it never saw, so no set with a small, closed stock of tools
is among them. Then the weights: they minimise the surprise at what truly answers among the likeliest candidates (a
softmax over them), every set counting the same whatever its size; no question is weighed with a turn that was learned
from it. The gate is a logistic regression: cc_native's requests within their repositories against MetaTool's, which no
Claude Code component serves.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "server"), str(ROOT / "bench" / "quality")]

from judge import read_labels  # noqa: E402

from repertoire.app import evaluate  # noqa: E402
from repertoire.app.wiring import open_embedder  # noqa: E402
from repertoire.domain.answer import BODY_SPACE, DESCRIPTION_SPACE, Query  # noqa: E402
from repertoire.ports import Embedder  # noqa: E402
from repertoire.retrieval.adapter import FILE, Adapter  # noqa: E402
from repertoire.retrieval.fuse import CONDITIONS, FEATURES, PRIORS  # noqa: E402
from repertoire.retrieval.pipeline import Pipeline  # noqa: E402
from repertoire.settings import Settings  # noqa: E402
from repertoire.store.database import Store  # noqa: E402

LEARNED = ROOT / "server" / "repertoire" / "retrieval" / "learned.py"
SETS = ("cc_native", "cc_bundles", "ultratool", "metatool_multi", "metatool_single", "sealtools", "toolret_apigen")
LENIENT = ("cc_native",)
SCOPED = ("cc_native",)  # asked again of each query's own repository: the case of one installed plugin
TURNED = ("cc_native", "cc_bundles", "sealtools", "toolret_apigen")
RANK, TURN_STEPS, TURN_RATE, TURN_DECAY, TEMPERATURE = 128, 400, 0.002, 0.02, 0.05
BATCH, OTHERS = 64, 1500
QUERIES, CANDIDATES = 500, 150
STEPS, RATE, DECAY = 400, 0.05, 0.003
GATE_STEPS, GATE_RATE, GATE_DECAY = 3000, 0.5, 0.01


@dataclass(frozen=True)
class Example:
    """One query: the features of its candidates, its conditions, and which candidates answer it."""

    table: np.ndarray
    conditions: np.ndarray
    gold: np.ndarray
    weight: float


def main() -> int:
    """Learn and write."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--cache", type=Path, help="keep the vectors of the corpora here")
    options = parser.parse_args()
    if not os.environ.get("REPERTOIRE_BENCH_DATA"):
        parser.error("REPERTOIRE_BENCH_DATA must name the folder of the labelled sets")
    data = Path(os.environ["REPERTOIRE_BENCH_DATA"])
    embedder, degraded = open_embedder(ROOT, Settings())
    if embedder is None:
        parser.error("; ".join(degraded))
    with contextlib.ExitStack() as stack:
        stores = {name: stack.enter_context(filled(data / name, options.cache, embedder)) for name in SETS}
        turns = learn_turns(stores, data, embedder)
        turns[None].save()
        pipelines = {
            (name, half): Pipeline(store.graph, store.vectors, embedder=embedder, adapter=turns[half])
            for name, store in stores.items()
            for half in ((0, 1) if name in TURNED else (None,))
        }
        examples: list[Example] = []
        for name in SETS:
            examples += read_examples(pipelines, name, data / name)
            if name in SCOPED:
                examples += read_examples(pipelines, name, data / name, scoped=True)
            print(f"{name}: {len(examples)} examples so far", flush=True)
        gate = learn_gate(pipelines, data)
    write(learn_weights(examples), gate)
    print(f"written to {LEARNED.relative_to(ROOT)} and {FILE.relative_to(ROOT)}")
    return 0


@contextlib.contextmanager
def filled(folder: Path, cache: Path | None, embedder: Embedder) -> Iterator[Store]:
    """Put a set into a throw-away store."""
    with tempfile.TemporaryDirectory(prefix="repertoire-learn-") as place, Store.open(Path(place) / "e.db") as store:
        asked = evaluate.EvalOptions(folder, Path(place) / "run.tsv", cache=cache)
        evaluate.fill(store, asked, evaluate.read_set(folder), embedder, report=print)
        yield store


def learn_turns(stores: dict[str, Store], data: Path, embedder: Embedder) -> dict[int | None, Adapter]:
    """Learn from all questions, and from the even and the odd ones alone for the weighing of the other half."""
    lessons = [lesson(stores[name], data / name, embedder) for name in TURNED]
    turns = {}
    for half in (None, 0, 1):
        # the half that a turn is used on is left out of what it is learned from
        kept = [Lesson(one.spaces, *(half_of(part, half) for part in (one.asked, one.answers))) for one in lessons]
        turns[half] = learn_turn(kept, embedder.model)
        print(f"turn without half {half} learned" if half is not None else "turn learned", flush=True)
    return turns


@dataclass(frozen=True)
class Lesson:
    """A set's corpus in both spaces, the vectors of its questions, and the rows that answer each."""

    spaces: tuple[np.ndarray, np.ndarray]
    asked: np.ndarray
    answers: list[np.ndarray]


def half_of(values: np.ndarray | list, left_out: int | None) -> np.ndarray | list:
    """Return every value, or those of the other half."""
    return values if left_out is None else values[1 - left_out :: 2]


def lesson(store: Store, folder: Path, embedder: Embedder) -> Lesson:
    """Read what a set teaches."""
    spaces = [store.vectors.matrix(space, embedder.model) for space in (DESCRIPTION_SPACE, BODY_SPACE)]
    ids = {summary.id: int(np.searchsorted(spaces[0][0], summary.node_id)) for summary in store.graph.summaries()}
    queries, gold = answered(folder)
    asked = embedder.embed_queries([query["text"] for query in queries]).astype(np.float64)
    answers = [np.array([ids[document] for document in sorted(gold[query["id"]])]) for query in queries]
    return Lesson((spaces[0][1].astype(np.float64), spaces[1][1].astype(np.float64)), asked, answers)


def learn_turn(lessons: list[Lesson], model: str) -> Adapter:
    """Descend the surprise at what answers among all else, a batch of one set at a time."""
    rng = np.random.default_rng(0)
    size = lessons[0].asked.shape[1]
    down, up = rng.normal(0.0, 0.02, (size, RANK)), np.zeros((RANK, size))
    mean, square = [np.zeros_like(down), np.zeros_like(up)], [np.zeros_like(down), np.zeros_like(up)]
    for step in range(1, TURN_STEPS + 1):
        one = lessons[step % len(lessons)]
        batch = rng.choice(len(one.asked), min(BATCH, len(one.asked)), replace=False)
        slopes = turn_slopes(one, batch, one.spaces[step // 2 % 2], (down, up), rng)
        for index, slope in enumerate(slopes):
            mean[index] = 0.9 * mean[index] + 0.1 * slope
            square[index] = 0.999 * square[index] + 0.001 * slope**2
        moves = [
            m / (1 - 0.9**step) / (np.sqrt(s / (1 - 0.999**step)) + 1e-8) for m, s in zip(mean, square, strict=True)
        ]
        down, up = down - TURN_RATE * moves[0], up - TURN_RATE * moves[1]
    return Adapter(model, down.astype(np.float32), up.astype(np.float32))


def turn_slopes(
    one: Lesson, batch: np.ndarray, space: np.ndarray, turn: tuple[np.ndarray, np.ndarray], rng: np.random.Generator
) -> tuple[np.ndarray, np.ndarray]:
    """Return the slopes of both matrices for one batch."""
    down, up = turn
    answers = [one.answers[index] for index in batch]
    rows = np.union1d(np.concatenate(answers), rng.choice(len(space), min(OTHERS, len(space)), replace=False))
    asked, low = one.asked[batch], one.asked[batch] @ down
    raw = asked + low @ up
    length = np.linalg.norm(raw, axis=1, keepdims=True)
    turned = raw / length
    odds = turned @ space[rows].T / TEMPERATURE
    wrong = np.exp(odds - odds.max(axis=1, keepdims=True))
    wrong /= wrong.sum(axis=1, keepdims=True)
    for index, right in enumerate(answers):
        wrong[index, np.searchsorted(rows, right)] -= 1.0 / len(right)
    back = wrong @ space[rows] / (TEMPERATURE * len(batch))
    back = (back - (back * turned).sum(axis=1, keepdims=True) * turned) / length
    return asked.T @ (back @ up.T) + TURN_DECAY * down, low.T @ back + TURN_DECAY * up


def answered(folder: Path, *, lenient: bool = False) -> tuple[list[dict], dict[str, set[str]]]:
    """Return the train queries that something answers, spread over the split where it is large, and what does."""
    labels = read_labels(folder, "train", lenient=lenient)
    queries = [query for query in labels.queries if labels.gold.get(query["id"])]
    step = max(1, len(queries) // QUERIES)
    return queries[::step][:QUERIES], labels.gold


def read_examples(pipelines: dict, name: str, folder: Path, *, scoped: bool = False) -> list[Example]:
    """Return the examples of a set, each weighed with a turn that was not learned from it."""
    queries, _ = answered(folder)
    gold = read_labels(folder, "train", lenient=name in LENIENT).gold
    found = [
        example(
            pipelines[name, index % 2 if name in TURNED else None],
            Query(query["text"], repository=query["repo"] if scoped else ""),
            gold[query["id"]],
        )
        for index, query in enumerate(queries)
    ]
    return [Example(*one, weight=1.0 / len(found)) for one in found]


def example(pipeline: Pipeline, query: Query, gold: set[str]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the features of the likeliest candidates and of what truly answers."""
    snapshot, evidence = pipeline.evidence(query)
    scores = evidence.table[:-PRIORS].mean(axis=0)
    right = np.isin(snapshot.column("id"), sorted(gold))
    if query.repository:
        elsewhere = snapshot.column("repository") != query.repository
        right, scores = right & ~elsewhere, np.where(elsewhere, -1.0, scores)
    rows = np.union1d(np.argsort(-scores, kind="stable")[:CANDIDATES], np.flatnonzero(right))
    return evidence.table[:, rows].T, evidence.conditions, right[rows]


def learn_weights(examples: list[Example]) -> np.ndarray:
    """Descend the softmax's surprise with Adam; a decay keeps what the examples do not ask for at nothing."""
    width = max(len(one.table) for one in examples)
    table = np.zeros((len(examples), width, len(FEATURES)))
    target = np.zeros((len(examples), width))
    outside = np.full((len(examples), width), -np.inf)
    for index, one in enumerate(examples):
        size = len(one.table)
        table[index, :size], outside[index, :size] = one.table, 0.0
        target[index, :size] = one.gold / one.gold.sum()
    conditions = np.stack([one.conditions for one in examples])
    importance = np.array([one.weight for one in examples])
    importance /= importance.sum()
    weights = np.zeros((len(FEATURES), len(CONDITIONS)))
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
    judged = [pipelines["cc_native", half].judge(Query(text, repository=home)) for text, home, half in asked]
    rows = np.array([[*one, 1.0] for one in judged])
    wanted = np.repeat([1.0, 0.0], [len(served), len(others)])
    scale = np.append(rows[:, :-1].std(axis=0), 1.0)
    gate = np.zeros(rows.shape[1])
    for _ in range(GATE_STEPS):
        sure = 1.0 / (1.0 + np.exp(-(rows / scale) @ gate))
        slope = (rows / scale).T @ (sure - wanted) / len(rows) + GATE_DECAY * np.append(gate[:-1], 0.0)
        gate -= GATE_RATE * slope
    return gate / scale


def write(weights: np.ndarray, gate: np.ndarray) -> None:
    """Replace the numbers in retrieval/learned.py."""
    rows = "".join(f"    ({', '.join(f'{value:.3f}' for value in row)}),\n" for row in weights)
    lines = json.dumps([round(float(value), 2) for value in gate])[1:-1]
    head, _, rest = LEARNED.read_text(encoding="utf-8").partition("WEIGHTS = (\n")
    comment = rest[rest.index("# log-odds") : rest.index("GATE = ")]
    LEARNED.write_text(f"{head}WEIGHTS = (\n{rows})\n\n{comment}GATE = ({lines})\n", encoding="utf-8")


if __name__ == "__main__":
    raise SystemExit(main())
