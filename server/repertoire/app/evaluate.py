"""Answers every query of a labelled set through the pipeline that users get, and writes the run for a judge."""

from __future__ import annotations

import hashlib
import json
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np

from repertoire.app.offer import Limits, offer
from repertoire.app.patterns import renew_patterns
from repertoire.app.recommend import recommend
from repertoire.app.search import search
from repertoire.domain.answer import BODY_SPACE, DESCRIPTION_SPACE, PARTS, REQUEST_SPACE, Query, Task
from repertoire.domain.component import DEPENDS_ON, REQUEST, Component, Edge, FileRecord, SourceInfo
from repertoire.domain.errors import InvalidRequest
from repertoire.domain.graph import GIVEN, HOME
from repertoire.ingestion.titles import Titled, title_mentions
from repertoire.ports import Embedder, Vectors
from repertoire.retrieval.pipeline import Options, Pipeline
from repertoire.retrieval.plan import Capabilities
from repertoire.retrieval.views import passage
from repertoire.store.database import Store
from repertoire.store.requests import Request, Selection

SEARCH, SET, PROMPT = "search", "set", "prompt"
MODES = (SEARCH, SET, PROMPT)
_DEPTH = 20  # rows a query
_NOW = "2000-01-01T00:00:00Z"  # a throw-away store needs no clock
_BATCH = 512
_READ = ("passage", "article", "section")  # types that are read, not used: they name each other by title

Report = Callable[[str], None]


@dataclass(frozen=True)
class EvalOptions:
    """What to measure. `learn` is empty, a split, or `split:N`; `cache` keeps the corpus's vectors between runs."""

    set_dir: Path
    run: Path
    split: str = "dev"
    mode: str = SEARCH
    learn: str = ""
    without: frozenset[str] = frozenset()
    scope_repo: bool = False
    cache: Path | None = None


@dataclass(frozen=True)
class EvalResult:
    """What was measured beside the run file."""

    queries: int
    rows: int
    documents: int
    documents_per_second: float
    p50_ms: float
    p95_ms: float
    learned: int = 0
    cached: bool = False


@dataclass(frozen=True)
class Tools:
    """What the product brings to a measurement: its model, how it finds capabilities, and what else it knows."""

    embedder: Embedder | None
    capabilities: Capabilities | None = None
    options: Options = field(default_factory=Options)


@dataclass(frozen=True)
class LabelledSet:
    """A corpus with its edges, queries over it, and what answers each."""

    corpus: Sequence[Mapping[str, Any]]
    queries: Sequence[Mapping[str, Any]]
    edges: Sequence[Sequence[str]]
    gold: Mapping[str, Sequence[str]] = field(default_factory=dict)

    def split(self, name: str) -> list[Mapping[str, Any]]:
        """Return the queries of one split."""
        return [query for query in self.queries if query.get("split") == name]


def evaluate(options: EvalOptions, store: Store, *, tools: Tools, report: Report) -> EvalResult:
    """Fill an empty store from a set, answer the queries of a split, write the run.

    Raises:
        InvalidRequest: the options name what is not there.
    """
    _check(options)
    labelled = read_set(options.set_dir)
    queries = labelled.split(options.split)
    if not queries:
        splits = sorted({str(query.get("split")) for query in labelled.queries})
        message = f"{options.set_dir.name} has no split {options.split}; it has {', '.join(splits)}"
        raise InvalidRequest(message)
    start = perf_counter()
    cached = fill(store, options, labelled, tools.embedder, report=report)
    seconds = perf_counter() - start
    learned = _learn(store, options, labelled, tools.embedder)
    renew_patterns(store)
    pipeline = Pipeline(
        store.graph, store.vectors, embedder=tools.embedder, capabilities=tools.capabilities, options=tools.options
    )
    report(f"{len(labelled.corpus)} documents in {seconds:.1f} s, {learned} requests learned, {len(queries)} queries")
    rows, times = _run(options, pipeline, queries)
    return EvalResult(
        queries=len(queries),
        rows=rows,
        documents=len(labelled.corpus),
        documents_per_second=len(labelled.corpus) / max(seconds, 1e-9),
        p50_ms=float(np.percentile(times, 50)),
        p95_ms=float(np.percentile(times, 95)),
        learned=learned,
        cached=cached,
    )


def _check(options: EvalOptions) -> None:
    unknown = sorted(options.without - set(PARTS))
    if unknown:
        message = f"no such part: {', '.join(unknown)}; the parts are {', '.join(PARTS)}"
        raise InvalidRequest(message)
    if options.mode not in MODES:
        message = f"cannot answer as {options.mode!r}; choose {', '.join(MODES)}"
        raise InvalidRequest(message)
    for name in ("corpus.jsonl", "queries.jsonl"):
        if not (options.set_dir / name).is_file():
            message = (
                f"{options.set_dir} has no {name}; a set is a folder with corpus.jsonl, queries.jsonl and qrels.tsv"
            )
            raise InvalidRequest(message)


def read_set(folder: Path) -> LabelledSet:
    """Read a labelled set."""
    gold: dict[str, list[str]] = defaultdict(list)
    for query, document, *_ in _table(folder / "qrels.tsv", "query-id"):
        gold[query].append(document)
    return LabelledSet(
        list(_lines(folder / "corpus.jsonl")),
        list(_lines(folder / "queries.jsonl")),
        list(_table(folder / "edges.tsv", "source")),
        gold,
    )


def _lines(path: Path) -> Iterator[Mapping[str, Any]]:
    with path.open(encoding="utf-8") as file:
        for line in file:
            if line.strip():
                yield json.loads(line)


def _table(path: Path, header: str) -> Iterator[list[str]]:
    if not path.is_file():
        return
    with path.open(encoding="utf-8") as file:
        for line in file:
            cells = line.rstrip("\n").split("\t")
            if len(cells) > 1 and cells[0] != header:
                yield cells


def fill(
    store: Store, options: EvalOptions, labelled: LabelledSet, embedder: Embedder | None, *, report: Report
) -> bool:
    """Put a corpus into an empty store and embed it; tell whether all vectors came from the cache."""
    _write(store, labelled)
    return _embed(store, options, embedder, report)


def _write(store: Store, labelled: LabelledSet) -> None:
    pairs = [(_component(row), row) for row in labelled.corpus]
    observed = {(cells[0], cells[1]) for cells in labelled.edges if len(cells) > 3}
    records = [
        FileRecord(component.id, component.content_hash, (component,), edges=tuple(_needs(row, observed)))
        for component, row in pairs
    ]
    edges = [_edge(cells) for cells in labelled.edges if len(cells) > 2]
    given = {(edge.source, edge.target) for edge in edges}
    read = [Titled(component.id, component.name, row["text"]) for component, row in pairs if component.type in _READ]
    edges += [edge for edge in title_mentions(read) if (edge.source, edge.target) not in given]
    store.sources.write(SourceInfo("eval", "eval", "eval"), records, (), derived=edges, now=_NOW)


def _component(row: Mapping[str, Any]) -> Component:
    description, _, body = str(row["text"]).partition("\n")
    return Component(
        id=row["id"],
        type=row["type"],
        name=row["name"],
        description=description.strip(),
        body=body.strip(),
        repository=row.get("repo", ""),
        path=row["id"],
        content_hash=hashlib.sha256(f"{row['name']}\n{row['text']}".encode()).hexdigest(),
    )


def _edge(cells: Sequence[str]) -> Edge:
    relation = cells[2] if cells[2] in HOME.relation else f"{GIVEN}:{cells[2]}"
    return Edge(cells[0], cells[1], relation, weight=float(cells[3]) if len(cells) > 3 else 1.0)


def _needs(row: Mapping[str, Any], observed: set[tuple[str, str]]) -> Iterator[Edge]:
    # A pair that edges.tsv counts was observed together: no declared requirement, which a set would be closed under.
    for need in row.get("depends_on", ()):
        if (row["id"], need) not in observed and (need, row["id"]) not in observed:
            yield Edge(row["id"], need, DEPENDS_ON)


def _embed(store: Store, options: EvalOptions, embedder: Embedder | None, report: Report) -> bool:
    if embedder is None or "vectors" in options.without:
        return False
    summaries = store.graph.summaries()
    stored = store.graph.components(summary.node_id for summary in summaries)
    rows = [(summary.node_id, summary.content_hash) for summary in summaries]
    cached = True
    for space in (BODY_SPACE, DESCRIPTION_SPACE):
        texts = [passage(space, stored[node_id].component) for node_id, _ in rows]
        kept = _cache_file(options.cache, embedder.model, texts)
        if kept is not None and kept.is_file():
            vectors = np.load(kept)
        else:
            cached = False
            report(f"embedding {len(texts)} texts of the {space} space")
            vectors = _embed_all(embedder, texts)
            if kept is not None:
                kept.parent.mkdir(parents=True, exist_ok=True)
                np.save(kept, vectors)
        store.vectors.put(space, embedder.model, rows, vectors)
    return cached


def _embed_all(embedder: Embedder, texts: Sequence[str]) -> Vectors:
    """Embed texts of like length together, so that little of a batch is padding."""
    order = sorted(range(len(texts)), key=lambda index: len(texts[index]))
    vectors = np.zeros((len(texts), embedder.dimensions), dtype=np.float32)
    for start in range(0, len(order), _BATCH):
        batch = order[start : start + _BATCH]
        vectors[batch] = embedder.embed_passages([texts[index] for index in batch])
    return vectors


def _cache_file(folder: Path | None, model: str, texts: Sequence[str]) -> Path | None:
    if folder is None:
        return None
    digest = hashlib.sha256("\0".join([model, *texts]).encode()).hexdigest()
    return folder / f"{digest}.npy"


def _learn(store: Store, options: EvalOptions, labelled: LabelledSet, embedder: Embedder | None) -> int:
    if not options.learn:
        return 0
    split, _, number = options.learn.partition(":")
    if number and not number.isdigit():
        message = f"--learn {options.learn!r}: give a split, or split:N with a whole number"
        raise InvalidRequest(message)
    past = labelled.split(split)[: int(number) if number else None]
    requests = [
        Request(
            f"{REQUEST}:{query['id']}",
            query["text"],
            selected=tuple(Selection(document) for document in labelled.gold.get(query["id"], ())),
        )
        for query in past
    ]
    ids = store.requests.record_many(requests, now=_NOW)
    if embedder is not None and past:
        for start in range(0, len(past), _BATCH):
            batch = slice(start, start + _BATCH)
            vectors = embedder.embed_queries([query["text"] for query in past[batch]])
            store.vectors.put(REQUEST_SPACE, embedder.reading, [(node_id, "") for node_id in ids[batch]], vectors)
    return len(past)


def _run(options: EvalOptions, pipeline: Pipeline, queries: Sequence[Mapping[str, Any]]) -> tuple[int, list[float]]:
    written, times = 0, []
    options.run.parent.mkdir(parents=True, exist_ok=True)
    _answer(options, pipeline, queries[0])  # warms the snapshot: the times are those of a running server
    with options.run.open("w", encoding="utf-8") as file:
        for query in queries:
            start = perf_counter()
            found = _answer(options, pipeline, query)
            times.append(1000.0 * (perf_counter() - start))
            for rank, (document, score) in enumerate(found, 1):
                file.write(f"{query['id']}\t{document}\t{rank}\t{score:.6f}\n")
            written += len(found)
    return written, times


def _answer(options: EvalOptions, pipeline: Pipeline, query: Mapping[str, Any]) -> list[tuple[str, float]]:
    text, repository = query["text"], query.get("repo", "") if options.scope_repo else ""
    if options.mode == SET:
        task = Task(text, repository=repository, without=options.without)
        return [(item.hit.component.id, item.hit.score) for item in recommend(pipeline, task).items]
    if options.mode == PROMPT:
        hits = offer(pipeline, text, Limits(without=options.without)).hits
    else:
        asked = Query(text, repository=repository, without=options.without, limit=_DEPTH)
        hits = search(pipeline, asked).hits
    return [(hit.component.id, hit.score) for hit in hits]
