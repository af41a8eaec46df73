"""Answers the queries of a labelled set of texts from a plain text index, without components; writes a run."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np

from repertoire.app.clock import now
from repertoire.app.measure.evaluate import EvalResult
from repertoire.app.measure.figures import open_run
from repertoire.app.measure.labelled import CachedEmbedder, LabelledSet, read_queries
from repertoire.domain.errors import InvalidRequest
from repertoire.domain.texts import PART_SPACE, TextDocument
from repertoire.ports import Embedder, model_of
from repertoire.retrieval.texts import WEIGHTS, TextRun, rank_texts, read_index
from repertoire.store.database import Store
from repertoire.store.text_file import Part, add_documents

PART_CHARACTERS = 900  # length of a part of a text, as much as the bundled model reads
_BATCH = 32  # parts that are embedded at once
_DEPTH = 200  # results that the run holds for each query

Report = Callable[[str], None]
Opening = Callable[[], AbstractContextManager[Store]]  # opens a temporary text index


@dataclass(frozen=True)
class TextOptions:
    """The options of an evaluation; with `scope_repo` each query searches the documents of its repository only."""

    set_dir: Path
    run: Path
    split: str = "dev"
    without: frozenset[str] = frozenset()
    weights: Mapping[str, float] = field(default_factory=dict)  # fusion weights in place of the defaults
    scope_repo: bool = False
    cache: Path | None = None


def evaluate_texts(options: TextOptions, opening: Opening, embedder: Embedder | None, *, report: Report) -> EvalResult:
    """Answer the queries of a split from a text index and write the run.

    Raises:
        InvalidRequest: an option names an unknown set, split or ranking.
    """
    weights = _weights(options.weights)
    labelled, queries = read_queries(options.set_dir, options.split)
    kept = CachedEmbedder(embedder, options.cache) if embedder is not None else None
    times: list[float] = []
    rows, documents, seconds = 0, 0, 0.0
    with open_run(options.run) as file:
        for rows_of_one, asked in _index_groups(labelled, queries, scope_repo=options.scope_repo):
            with opening() as store:
                start = perf_counter()
                _fill(store, rows_of_one, kept)
                documents, seconds = documents + len(rows_of_one), seconds + perf_counter() - start
                report(f"{documents} documents in {seconds:.1f} s")
                for line, ms in _answers(store, asked, embedder, weights, options.without):
                    file.write(line)
                    rows += line.count("\n")
                    times.append(ms)
    if kept is not None:
        kept.save()
    return EvalResult(
        queries=len(queries),
        rows=rows,
        documents=documents,
        documents_per_second=documents / max(seconds, 1e-9),
        p50_ms=float(np.percentile(times, 50)),
        p95_ms=float(np.percentile(times, 95)),
    )


def _weights(given: Mapping[str, float]) -> dict[str, float]:
    unknown = sorted(set(given) - set(WEIGHTS))
    if unknown:
        message = f"no such ranking: {', '.join(unknown)}; the rankings are {', '.join(WEIGHTS)}"
        raise InvalidRequest(message)
    return {**WEIGHTS, **given}


def _index_groups(
    labelled: LabelledSet, queries: Sequence[Mapping[str, Any]], *, scope_repo: bool
) -> Iterator[tuple[list[Mapping[str, Any]], list[Mapping[str, Any]]]]:
    """Yield documents with the queries that search them: all of the set, or those of each repository."""
    documents, asked = defaultdict(list), defaultdict(list)
    for row in labelled.corpus:
        documents[str(row.get("repo", "")) if scope_repo else ""].append(row)
    for query in queries:
        asked[str(query.get("repo", "")) if scope_repo else ""].append(query)
    for place, those in asked.items():
        yield documents[place], those


def _fill(store: Store, rows: Sequence[Mapping[str, Any]], embedder: CachedEmbedder | None) -> None:
    parts = add_documents(store, map(_document, rows), size=PART_CHARACTERS, now=now())
    if embedder is None:
        return
    parts.sort(key=lambda part: len(part[2]))  # texts of similar length need little padding
    for start in range(0, len(parts), _BATCH):
        _embed(store, parts[start : start + _BATCH], embedder)


def _embed(store: Store, parts: Sequence[Part], embedder: CachedEmbedder) -> None:
    vectors = embedder.embed_passages([text for _, _, text in parts])
    store.vectors.put(PART_SPACE, embedder.model, [(node_id, digest) for node_id, digest, _ in parts], vectors)


def _document(row: Mapping[str, Any]) -> TextDocument:
    key, title = str(row["id"]), str(row.get("title") or row.get("name") or "")
    return TextDocument(key, str(row["text"]), title if title != key else "")


def _answers(
    store: Store,
    queries: Sequence[Mapping[str, Any]],
    embedder: Embedder | None,
    weights: Mapping[str, float],
    without: frozenset[str],
) -> Iterator[tuple[str, float]]:
    """Yield the run's lines for each query, and the milliseconds that the answer took."""
    index = read_index(store.graph, store.vectors, model_of(embedder))
    for query in queries:
        start = perf_counter()
        found = rank_texts(TextRun(query["text"], store.graph, index, embedder, weights, without), limit=_DEPTH)
        ms = 1000.0 * (perf_counter() - start)
        yield "".join(f"{query['id']}\t{key}\t{rank}\t{score:.6f}\n" for rank, (key, score) in enumerate(found, 1)), ms
