"""Answers the queries of a labelled set of code from a project's memory, beside FTS5, vectors and both fused."""

from __future__ import annotations

import json
import tarfile
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter
from typing import Any

from repertoire.app.measure.figures import median_and_tail, open_run, percent
from repertoire.app.measure.labelled import CachedEmbedder, read_queries
from repertoire.app.measure.plain_fusion import plain_systems
from repertoire.app.measure.temporary_project import temporary_project
from repertoire.app.projects.index import index_project
from repertoire.app.projects.shelf import OpenProject
from repertoire.domain.project import CODE, DOCS, Item
from repertoire.ports import Embedder, model_of
from repertoire.retrieval.project import SECOND_CHUNK, WEIGHTS
from repertoire.retrieval.sections import SectionRun, rank_sections
from repertoire.store.project_file import ProjectStore

_DEEP, _DEPTH = 200, 100  # results that are ranked, and that the run holds
_FIRST = 20  # results of which MRR counts the first right one
_FILES = 100_000
Place = tuple[str, int, int]  # path, first and last line


@dataclass(frozen=True)
class CodeOptions:
    """What is measured; `weights` are used in place of the shipped ones."""

    set_dir: Path
    run: Path
    split: str = "dev"
    weights: Mapping[str, float] | None = None
    cache: Path | None = None


@dataclass(frozen=True)
class CodeFigures:
    """Shares in percent for one way to answer: a result is right where it shares a line with a right place."""

    hit_at_1: float
    hit_at_5: float
    mrr: float  # over the first 20 results
    recall_at_10: float
    p50_ms: float
    p95_ms: float


@dataclass(frozen=True)
class CodeResult:
    """What was measured, by the kind of question and the way to answer."""

    queries: int
    texts: int
    figures: Mapping[str, Mapping[str, CodeFigures]]


def evaluate_code(
    options: CodeOptions,
    opening: Callable[[Path], ProjectStore],
    embedder: Embedder | None,
    *,
    report: Callable[[str], None],
) -> CodeResult:
    """Read a set's files as a project, answer the queries of a split, and write the run of the search.

    Raises:
        InvalidRequest: the folder holds no labelled set, or the set has no such split.
    """
    labelled, queries = read_queries(options.set_dir, options.split, needs_corpus=False)
    kept = CachedEmbedder(embedder, options.cache) if embedder is not None else None
    with temporary_project(opening) as project:
        named = unpack(options.set_dir, Path(project.root))
        started = perf_counter()
        done = index_project(project.store, most_files=_FILES, embedder=kept)
        report(f"{done.read} files, {done.embedded} texts in {perf_counter() - started:.1f} s")
        if kept is not None:
            kept.save()
        right = {query: places_of(labels, named) for query, labels in labelled.gold.items()}
        return _measured(options, project, queries, right, kept)


def unpack(set_dir: Path, root: Path) -> dict[str, str]:
    """Write the files of a set below a folder; return the path of each row's file, where a row is no file itself."""
    archive = set_dir / "tree.tar.xz"
    if archive.is_file():
        with tarfile.open(archive) as packed:
            packed.extractall(root, filter="data")
        return {}
    named: dict[str, str] = {}
    with (set_dir / "corpus.jsonl").open(encoding="utf-8") as rows:
        for number, row in enumerate(map(json.loads, rows)):
            named[str(row["id"])] = f"f{number}.py"
            (root / f"f{number}.py").write_text(str(row["text"]), encoding="utf-8")
    return named


def places_of(labels: Sequence[str], named: Mapping[str, str]) -> list[Place]:
    """Return the right places of a question, given its labels and the files of rows."""
    return [(named[one], 1, 1_000_000) if one in named else _place(one) for one in labels]


def _place(label: str) -> Place:
    path, _, span = label.rpartition(":")
    start, _, end = span.partition("-")
    return path, int(start), int(end)


def _measured(
    options: CodeOptions,
    project: OpenProject,
    queries: Sequence[Mapping[str, Any]],
    gold: Mapping[str, Sequence[Place]],
    embedder: Embedder | None,
) -> CodeResult:
    rows: dict[str, dict[str, list[tuple[list[bool], float, float]]]] = defaultdict(lambda: defaultdict(list))
    with open_run(options.run) as file:
        for query in queries:
            view = DOCS if query.get("mode") == DOCS else CODE
            right = gold[query["id"]]
            for name, items, ms in _answers(project, view, str(query["text"]), options, embedder):
                hits = [any(touches(item, place) for place in right) for item in items]
                found = sum(any(touches(item, place) for item in items[:10]) for place in right) / len(right)
                rows[view][name].append((hits, found, ms))
                if name == "search":
                    file.writelines(
                        f"{query['id']}\t{one.path}:{one.start}-{one.end}\t{rank}\t{1 / rank:.6f}\n"
                        for rank, one in enumerate(items[:_DEPTH], 1)
                    )
    figures = {view: {name: _figures(many) for name, many in of.items()} for view, of in rows.items()}
    return CodeResult(len(queries), len(project.index(CODE, "")) + len(project.index(DOCS, "")), figures)


def _answers(
    project: OpenProject, view: str, question: str, options: CodeOptions, embedder: Embedder | None
) -> Iterator[tuple[str, list[Item], float]]:
    """Yield the answers of the search and of each plain baseline, best first, and the milliseconds of each."""
    index = project.index(view, model_of(embedder))

    def ranked(weights: Mapping[str, float]) -> list[int]:
        run = SectionRun(
            question, project.store.graph, index, embedder, weights=weights, second_chunk=SECOND_CHUNK[view]
        )
        return [one.node_id for one in rank_sections(run, limit=_DEEP)]

    def search() -> list[int]:
        return ranked(options.weights or WEIGHTS[view])

    for name, ask in {"search": search, **plain_systems(ranked, vectors=embedder is not None)}.items():
        started = perf_counter()
        node_ids = ask()
        ms = 1000 * (perf_counter() - started)
        items = project.store.items.by_id(node_ids)
        yield name, [items[one] for one in node_ids if one in items], ms


def touches(item: Item, place: Place) -> bool:
    """Tell whether a result shares a line with a right place."""
    return item.path == place[0] and item.start <= place[2] and place[1] <= item.end


def _figures(rows: Sequence[tuple[list[bool], float, float]]) -> CodeFigures:
    firsts = [next((rank for rank, right in enumerate(hits[:_FIRST], 1) if right), 0) for hits, _, _ in rows]
    return CodeFigures(
        percent(rank == 1 for rank in firsts),
        percent(0 < rank <= 5 for rank in firsts),
        percent(1 / rank if rank else 0.0 for rank in firsts),
        percent(found for _, found, _ in rows),
        *median_and_tail([ms for _, _, ms in rows]),
    )
