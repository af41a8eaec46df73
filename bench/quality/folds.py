"""Cross-validates over train and dev: `python bench/quality/folds.py [SET…] [--folds N] [--write] [--cache DIR]`.

For sets whose dev split is too small to tell. Of each fold a set folder is written in which the held-out questions are
dev, all others train, and what the set's graph knows from questions is counted anew on those others alone; then the
real evaluation runs over it. Beside it runs a plain search (words, bodies and descriptions, added 2:1:1), which on dev
is within four points of the plain runs of the data. Where the shipped weights were learned on a set's train split, its
figures on those questions flatter: they are told apart.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # as every process of the product has it (boot.threads)
ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "server"), str(ROOT / "bench" / "quality")]

import numpy as np  # noqa: E402
from inside import evidence as evidence_of  # noqa: E402
from judge import Labels, interval, judge, read_labels, read_run  # noqa: E402
from opening import labelled_sets, shipped_model, throw_away  # noqa: E402
from run import commit, keep  # noqa: E402

from repertoire.app.measure.evaluate import EvalOptions, evaluate  # noqa: E402
from repertoire.domain.answer import Query  # noqa: E402
from repertoire.retrieval.arrays import best_rows  # noqa: E402
from repertoire.retrieval.fuse import FEATURES  # noqa: E402
from repertoire.retrieval.pipeline import Pipeline  # noqa: E402

SETS = ("cc_bundles", "metatool_multi")
FROM_QUESTIONS = ("same_bundle", "co_occurs")  # relations that the data's authors took from train questions
SPLITS = ("train", "dev")
SHOWN = ("Hit@1", "R@5", "R@10", "C@5", "C@10", "nDCG@10")
DEPTH = 20
_PLAIN = {"words, all fields": 0.5, "body, of the nearest": 0.25, "description, of the nearest": 0.25}


@dataclass(frozen=True)
class Source:
    """A labelled set as it is on the disk."""

    folder: Path
    queries: list[dict]
    gold: dict[str, set[str]]
    edges: list[list[str]]
    header: str

    @classmethod
    def read(cls, folder: Path) -> Source:
        """Read a set, both splits together."""
        both = [read_labels(folder, split) for split in SPLITS]
        header, *lines = (folder / "edges.tsv").read_text(encoding="utf-8").splitlines()
        queries = [query for labels in both for query in labels.queries]
        return cls(folder, queries, both[0].gold, [line.split("\t") for line in lines], header)

    def counted(self, queries: list[dict]) -> Counter[tuple[str, str]]:
        """Count the pairs that answer one question together."""
        pairs = (combinations(sorted(self.gold.get(query["id"], ())), 2) for query in queries)
        return Counter(pair for found in pairs for pair in found)

    def check(self) -> None:
        """Make sure that counting anew gives the graph that the data hold: else a fold would be another task."""
        given = {tuple(sorted(cells[:2])) for cells in self.edges if cells[2] in FROM_QUESTIONS}
        if given != set(self.counted([query for query in self.queries if query["split"] == "train"])):
            message = f"{self.folder.name}: its edges are not those of its train questions; it cannot be folded"
            raise SystemExit(message)


def main() -> int:
    """Run the folds."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("sets", nargs="*", default=SETS, help=f"which sets; default: {' '.join(SETS)}")
    parser.add_argument("--folds", type=int, default=5)
    parser.add_argument("--write", action="store_true", help="keep the figures in bench/results")
    parser.add_argument("--cache", type=Path, help="keep the vectors of the corpora here")
    options = parser.parse_args()
    data, measured = labelled_sets(parser), commit()
    embedder = shipped_model(parser)
    rows = []
    for name in options.sets:
        source = Source.read(data / name)
        source.check()
        for learn in ("", "train"):
            ours: dict[str, list[str]] = {}
            plain: dict[str, list[str]] = {}
            for held in parts(source.queries, options.folds):
                for run, found in zip((ours, plain), fold(source, held, learn, options.cache, embedder), strict=True):
                    run.update(found)
            for row in judged(source, ours, plain):
                rows.append({"set": name, "learn": learn, "folds": options.folds, **row})
                print(line(rows[-1]), flush=True)
    if options.write:
        keep("folds", {**measured, "model": embedder.model, "rows": rows})
    return 0


def parts(queries: list[dict], folds: int) -> Iterator[list[dict]]:
    """Deal the questions out, each split evenly, in an order that depends on nothing but their ids."""
    order = np.random.default_rng(0).permutation(len(queries))
    dealt = sorted((queries[index] for index in order), key=lambda query: query["split"])
    for start in range(folds):
        yield dealt[start::folds]


def fold(source: Source, held: list[dict], learn: str, cache: Path | None, embedder: object) -> tuple[dict, dict]:
    """Answer the held-out questions from a graph that never saw them; return our run and a plain one."""
    with tempfile.TemporaryDirectory(prefix="repertoire-fold-") as place:
        folder, run = Path(place) / source.folder.name, Path(place) / "run.tsv"
        write(source, folder, held)
        with throw_away(Path(place), embedder) as opened:
            evaluate(EvalOptions(folder, run, learn=learn, cache=cache), opened, report=lambda _: None)
            plain = {query["id"]: plain_search(opened.pipeline, query["text"]) for query in held}
        return read_run(run), plain


def write(source: Source, folder: Path, held: list[dict]) -> None:
    """Write a fold as a set of its own."""
    folder.mkdir()
    out = {query["id"] for query in held}
    known = [query for query in source.queries if query["id"] not in out]
    folded = [{**query, "split": "dev" if query["id"] in out else "train"} for query in source.queries]
    (folder / "queries.jsonl").write_text("".join(json.dumps(row) + "\n" for row in folded), encoding="utf-8")
    (folder / "qrels.tsv").write_bytes((source.folder / "qrels.tsv").read_bytes())
    pairs = source.counted(known)
    kinds = {cells[2]: len(cells) > 3 for cells in source.edges if cells[2] in FROM_QUESTIONS}
    edges = [cells for cells in source.edges if cells[2] not in FROM_QUESTIONS]
    edges += [[*pair, kind, *[str(times)] * counts] for kind, counts in kinds.items() for pair, times in pairs.items()]
    (folder / "edges.tsv").write_text("\n".join([source.header, *map("\t".join, edges)]) + "\n", encoding="utf-8")
    told = {tuple(sorted(cells[:2])) for cells in source.edges if cells[2] in FROM_QUESTIONS}
    with (folder / "corpus.jsonl").open("w", encoding="utf-8") as corpus:
        for text in (source.folder / "corpus.jsonl").read_text(encoding="utf-8").splitlines():
            row = json.loads(text)
            needs = [need for need in row.get("depends_on", ()) if tuple(sorted((row["id"], need))) not in told]
            corpus.write(json.dumps({**row, "depends_on": needs}) + "\n")


def plain_search(pipeline: Pipeline, text: str) -> list[str]:
    """Return what words and similarity alone find, added as they are."""
    snapshot, evidence = evidence_of(pipeline, Query(text))
    weights = np.array([_PLAIN.get(name, 0.0) for name, _ in FEATURES])
    return snapshot.column("id")[best_rows(weights @ evidence.table, DEPTH)].tolist()


def judged(source: Source, ours: dict[str, list[str]], plain: dict[str, list[str]]) -> Iterator[dict]:
    """Yield the figures of both splits together and of each."""
    for split in ("both", *SPLITS):
        queries = [query for query in source.queries if split in ("both", query["split"])]
        labels = Labels(queries, source.gold)
        mine, theirs = judge(labels, ours, "search"), judge(labels, plain, "search")
        yield {
            "split": split,
            "n": len(queries),
            "figures": {key: interval(values) for key, values in mine.items()},
            "plain": {key: interval(values) for key, values in theirs.items()},
            "versus_plain": {key: interval(mine[key] - theirs[key]) for key in mine},
        }


def line(row: dict) -> str:
    """Return a row as text: each figure with the difference to the plain search, starred where that is sure."""
    cells = []
    for name in SHOWN:
        delta, low, high = row["versus_plain"][name]
        cells.append(f"{name} {row['figures'][name][0]:.1f} ({delta:+.1f}{'*' if low > 0 or high < 0 else ''})")
    learned = f" learn {row['learn']}" if row["learn"] else ""
    return f"{row['set'] + learned:28s} {row['split']:5s} n {row['n']:4d}  {'  '.join(cells)}"


if __name__ == "__main__":
    raise SystemExit(main())
