"""Answers the queries of a labelled set of sections from a temporary pack, beside FTS5, vectors and both fused."""

from __future__ import annotations

import tempfile
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np

from repertoire.app.measure.figures import median_and_tail, open_run
from repertoire.app.measure.labelled import CachedEmbedder, LabelledSet, read_queries
from repertoire.app.measure.plain_fusion import fuse_equally
from repertoire.app.packs.embedding import embed_pack, workers_beside
from repertoire.app.packs.exams import rank_of_first
from repertoire.documentation.markdown import read_markdown
from repertoire.domain.errors import InvalidRequest
from repertoire.domain.pack import CHUNK_SPACE, SECTION, SECTIONS, PackArticle
from repertoire.domain.pack_stages import BALANCED, PROFILES, STAGES
from repertoire.domain.text import content_words
from repertoire.ports import Embedder, model_of
from repertoire.retrieval.pack_ranking import PackRun, rank_pack
from repertoire.retrieval.sections import SectionIndex, read_sections
from repertoire.store.pack_file import PackStore

_DEPTH, _DEEP = 50, 200  # results that the run holds for each query, and candidates of each baseline
_WORDS = 256

Report = Callable[[str], None]
Ask = Callable[[str], Sequence[int]]  # returns the node ids of sections, best first


@dataclass(frozen=True)
class SectionOptions:
    """What to measure. `cache` keeps the corpus's vectors between runs; `gate` is the least cosine that covers."""

    set_dir: Path
    run: Path
    gate: float
    split: str = "dev"
    without: frozenset[str] = frozenset(STAGES) - PROFILES[BALANCED]
    cache: Path | None = None


@dataclass(frozen=True)
class SectionFigures:
    """Shares in percent for one way to answer (pages are ranked by their best section), and milliseconds."""

    page_hit_at_1: float
    page_recall_at_5: float
    section_hit_at_1: float
    section_recall_at_5: float
    section_recall_at_10: float
    p50_ms: float
    p95_ms: float


@dataclass(frozen=True)
class SectionResult:
    """What was measured: each way to answer, and the percent of queries that the gate calls not covered."""

    queries: int
    sections: int
    systems: Mapping[str, SectionFigures]
    refused: float


@dataclass(frozen=True)
class _Labels:
    """The labels of a set: document id and page of each section, by node id, and the gold of each query."""

    ids: Mapping[int, str]
    pages: Mapping[int, str]
    gold: Mapping[str, Sequence[str]]


def evaluate_sections(
    options: SectionOptions, opening: Callable[[Path], PackStore], embedder: Embedder | None, *, report: Report
) -> SectionResult:
    """Answer the queries of a split from a pack of the set's sections and write the run of the search.

    Raises:
        InvalidRequest: there is no such set or split, or its rows are not the sections of pages.
    """
    labelled, queries = read_queries(options.set_dir, options.split)
    with tempfile.TemporaryDirectory(prefix="repertoire-eval-") as folder, opening(Path(folder) / "pack.db") as store:
        started = perf_counter()
        labels = _fill(store, labelled, embedder, options.cache)
        report(f"{len(labels.ids)} sections in {perf_counter() - started:.1f} s")
        index = read_sections(store.graph, store.vectors, model_of(embedder))
        nearest = list[float]()

        def texts(node_ids: Sequence[int]) -> dict[int, str]:
            return {one: passage.text for one, passage in store.passages(dict.fromkeys(node_ids)).items()}

        def search(question: str) -> Sequence[int]:
            run = PackRun(question, store.graph, index, embedder, without=options.without, texts=texts, limit=_DEEP)
            found = rank_pack(run).sections
            nearest.append(run.nearest)
            return [one.node_id for one in found]

        systems, answers = {}, dict[str, list[Sequence[int]]]()
        for name, ask in {"search": search, **_baselines(store, index, embedder)}.items():
            answers[name], times = _answered(ask, queries)
            systems[name] = _figures(queries, answers[name], times, labels)
    _write(options.run, queries, answers["search"], labels)
    refused = 100 * float(np.mean(np.array(nearest) < options.gate))
    return SectionResult(len(queries), len(labels.ids), systems, round(refused, 1))


def _fill(store: PackStore, labelled: LabelledSet, embedder: Embedder | None, cache: Path | None) -> _Labels:
    """Write the pages of a set as articles; return the labels by node id."""
    pages = defaultdict(list)
    for row in labelled.corpus:
        if "page" not in row:
            message = f"the row {row.get('id')!r} has no `page`; with --kind section each row is a section of a page"
            raise InvalidRequest(message)
        pages[str(row["page"])].append(row)
    store.add(_article(page, rows) for page, rows in pages.items())
    if embedder is not None:
        kept = CachedEmbedder(embedder, cache)
        embed_pack(store, kept, workers=workers_beside(1))
        kept.save()
    topology = store.graph.topology(SECTIONS)
    node_ids = [int(one) for one, kind in zip(topology.ids, topology.types, strict=True) if kind == SECTION]
    rows = [row for of_page in pages.values() for row in of_page]
    ids = {node_id: str(row["id"]) for node_id, row in zip(node_ids, rows, strict=True)}
    return _Labels(ids, {one: str(row["page"]) for one, row in zip(node_ids, rows, strict=True)}, labelled.gold)


def _article(page: str, rows: Sequence[Mapping[str, Any]]) -> PackArticle:
    """Return the article of a page, read from the text of its sections as a build reads a document."""
    article = read_markdown(page, "\n\n".join(str(row["text"]) for row in rows), {}, content_hash="")
    if len(article.sections) != len(rows):
        message = (
            f"{page} has {len(rows)} rows and {len(article.sections)} sections; each row is to be one heading with "
            "the text below it, in the order of the page"
        )
        raise InvalidRequest(message)
    title = str(rows[0].get("title") or "")
    return replace(article, title=title) if title else article


def _baselines(store: PackStore, index: SectionIndex, embedder: Embedder | None) -> dict[str, Ask]:
    """Return the plain ways to answer: FTS5, the nearest chunk, and the two fused by reciprocal ranks."""

    def words(question: str) -> Sequence[int]:
        asked = content_words(question)[:_WORDS]
        return [one for one, _ in store.graph.match(asked, limit=_DEEP, weights=(2, 1, 1), view=SECTIONS)]

    def nearest(question: str) -> Sequence[int]:
        space = index.spaces[CHUNK_SPACE]
        assert embedder is not None  # noqa: S101 - else there is no such system
        best = np.full(len(index), -np.inf)
        np.maximum.at(best, space.rows, space.vectors @ embedder.embed_passages([question])[0])
        return [int(one) for one in index.node_ids[np.argsort(-best, kind="stable")[:_DEEP]]]

    def fused(question: str) -> Sequence[int]:
        return fuse_equally((words(question), nearest(question)))

    return {"fts5": words} if embedder is None else {"fts5": words, "vectors": nearest, "rrf": fused}


def _answered(ask: Ask, queries: Sequence[Mapping[str, Any]]) -> tuple[list[Sequence[int]], list[float]]:
    answers, times = list[Sequence[int]](), list[float]()
    for query in queries:
        started = perf_counter()
        answers.append(ask(str(query["text"])))
        times.append(1000 * (perf_counter() - started))
    return answers, times


def _figures(
    queries: Sequence[Mapping[str, Any]], answers: Sequence[Sequence[int]], times: Sequence[float], labels: _Labels
) -> SectionFigures:
    page_of = {labels.ids[node_id]: page for node_id, page in labels.pages.items()}
    sections, pages = list[int](), list[int]()
    for query, found in zip(queries, answers, strict=True):
        gold = labels.gold[query["id"]]
        sections.append(rank_of_first([labels.ids[one] for one in found], gold))
        ranked = list(dict.fromkeys(labels.pages[one] for one in found))
        pages.append(rank_of_first(ranked, [page_of[one] for one in gold if one in page_of]))
    return SectionFigures(
        _share(pages, 1),
        _share(pages, 5),
        _share(sections, 1),
        _share(sections, 5),
        _share(sections, 10),
        *median_and_tail(times),
    )


def _share(ranks: Sequence[int], depth: int) -> float:
    return round(100 * sum(0 < rank <= depth for rank in ranks) / max(len(ranks), 1), 1)


def _write(run: Path, queries: Sequence[Mapping[str, Any]], answers: Sequence[Sequence[int]], labels: _Labels) -> None:
    with open_run(run) as file:
        for query, found in zip(queries, answers, strict=True):
            for rank, one in enumerate(found[:_DEPTH], 1):
                file.write(f"{query['id']}\t{labels.ids[one]}\t{rank}\t{1 / rank:.6f}\n")
