"""Measures sets where capabilities are known, as users have them, and the labelled sets hold none.

Gives the components of cc_bundles and cc_native the capabilities that ingestion finds in their texts, hides which
components came in one bundle, recommends a set for every train and dev question, and prints precision, recall and F1.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "server"), str(ROOT / "bench" / "quality")]

from judge import interval  # noqa: E402

from repertoire.app.evaluate import EvalOptions, LabelledSet, fill, read_set  # noqa: E402
from repertoire.app.nearest import assign_nearest  # noqa: E402
from repertoire.app.patterns import renew_patterns  # noqa: E402
from repertoire.app.recommend import recommend  # noqa: E402
from repertoire.app.vocabulary import vocabulary_of  # noqa: E402
from repertoire.app.wiring import evaluation_tools, open_embedder  # noqa: E402
from repertoire.catalogue import reading  # noqa: E402
from repertoire.domain.answer import Task  # noqa: E402
from repertoire.domain.component import PROVIDES  # noqa: E402
from repertoire.ingestion.capabilities import provided  # noqa: E402
from repertoire.retrieval.pipeline import Pipeline  # noqa: E402
from repertoire.settings import Settings  # noqa: E402
from repertoire.store.database import Store  # noqa: E402

SETS = ("cc_bundles", "cc_native")
TOLD = "same_bundle"  # an edge that tells the answer


def main() -> int:
    """Print what sets are like on each labelled set."""
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("sets", nargs="*", default=SETS)
    arguments.add_argument("--cache", type=Path)
    arguments.add_argument("--run", type=Path, help="a folder for what each question was given, as JSON lines")
    given = arguments.parse_args()
    for name in given.sets:
        rows = answered(Path(os.environ["REPERTOIRE_BENCH_DATA"]) / name, given.cache)
        for label, values in zip(("P", "R", "F1", "size"), np.array([row[2:] for row in rows]).T, strict=True):
            print(f"{name:12s} {label:4s} {interval(100.0 * values if label != 'size' else values)}")
        if given.run:
            given.run.mkdir(parents=True, exist_ok=True)
            (given.run / f"{name}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    return 0


def answered(folder: Path, cache: Path | None) -> list[tuple[str, list[str], float, float, float, int]]:
    """Return each question's id and set, with its precision, recall, F1 and size."""
    labelled = with_capabilities(read_set(folder))
    with tempfile.TemporaryDirectory() as home, Store.open(Path(home) / "repertoire.db") as store:
        embedder, _ = open_embedder(Path(home), Settings())
        tools = evaluation_tools(embedder)
        fill(store, EvalOptions(folder, Path(home), cache=cache), labelled, embedder, report=print)
        if embedder is not None:
            assign_nearest(store, embedder)
        renew_patterns(store)
        pipeline = Pipeline(store.graph, store.vectors, embedder=embedder, capabilities=tools.capabilities)
        return [judged(pipeline, query, labelled.gold[query["id"]]) for query in labelled.queries]


def with_capabilities(labelled: LabelledSet) -> LabelledSet:
    """Return a set whose components provide what ingestion finds in their texts."""
    vocabulary = vocabulary_of(reading.load())
    edges = [cells for cells in labelled.edges if cells[2] != TOLD]
    for row in labelled.corpus:
        description, _, body = str(row["text"]).partition("\n")
        texts = {"name": row["name"], "description": description.strip(), "body": body.strip()}
        found = provided(vocabulary, row["type"], texts)
        edges += [[row["id"], f"capability:{one.term}", PROVIDES, str(one.weight)] for one in found]
    return LabelledSet(labelled.corpus, labelled.queries, edges, labelled.gold)


def judged(
    pipeline: Pipeline, query: dict[str, str], gold: list[str]
) -> tuple[str, list[str], float, float, float, int]:
    """Return a question's set and how it fits."""
    found = [item.hit.component.id for item in recommend(pipeline, Task(query["text"])).items]
    right = len(set(found) & set(gold))
    precision, recall = right / max(len(found), 1), right / len(gold)
    return query["id"], found, precision, recall, 2.0 * right / (len(found) + len(gold)), len(found)


if __name__ == "__main__":
    raise SystemExit(main())
