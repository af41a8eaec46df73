"""Answers the queries of a labelled set of traces as users are answered, beside words, vectors and both, in one run."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter
from typing import Any

from repertoire.app.clock import now, today
from repertoire.app.kernel import Repertoire
from repertoire.app.measure.figures import median_and_tail, open_run
from repertoire.app.measure.labelled import CachedEmbedder, LabelledSet, read_queries
from repertoire.app.measure.plain_fusion import fuse_equally
from repertoire.app.traces.embed import embed_traces
from repertoire.app.traces.exchange import import_lines
from repertoire.app.traces.fields import TraceFields, trace_of
from repertoire.app.traces.search import TraceAnswer, TraceQuery, confidence_in, search_traces
from repertoire.domain.confidence_intervals import wilson
from repertoire.domain.event import Moment
from repertoire.domain.graph import TRACES
from repertoire.domain.text import content_words
from repertoire.domain.trace import TEXT
from repertoire.traces.ageing import recency
from repertoire.traces.ranking import FITS

_DEPTH, _DEEP = 10, 200
_TITLE, _WORDS = 80, 256
_SIMILARITY, _TRUST, _RECENCY = 0.6, 0.3, 0.1  # weights of CommonTrace's blend

Report = Callable[[str], None]


@dataclass(frozen=True)
class TraceOptions:
    """What to measure. `cache` keeps the corpus's vectors between runs; `at_home`: over the traces that are there."""

    set_dir: Path
    run: Path
    split: str = "dev"
    cache: Path | None = None
    at_home: bool = False


@dataclass(frozen=True)
class TraceFigures:
    """Of one way to answer: shares in percent, that of first places between its 95 % bounds, and milliseconds."""

    hit_at_1: float
    low: float
    high: float
    mrr_at_10: float
    recall_at_5: float
    p50_ms: float
    p95_ms: float


@dataclass(frozen=True)
class TraceResult:
    """What was measured: each way to answer, and silence.

    `held_back`: percent of right first answers that do not call themselves fitting; `false_fits`: percent of questions
    whose best other answer would, were the right one not there.
    """

    queries: int
    systems: Mapping[str, TraceFigures]
    held_back: float
    false_fits: float


def evaluate_traces(options: TraceOptions, opened: Repertoire, *, report: Report) -> TraceResult:
    """Answer the queries of a split and write the run of the search; an empty store is filled from the set first.

    Raises:
        InvalidRequest: the options name what is not there.
    """
    labelled, queries = read_queries(options.set_dir, options.split)
    keys = _import_corpus(options, labelled, opened, report)
    gold = {query["id"]: {key for key, one in keys.items() if one in labelled.gold[query["id"]]} for query in queries}
    answers: list[TraceAnswer] = []

    def search(query: Mapping[str, Any]) -> list[str]:
        answers.append(search_traces(opened.traces, _wanted(query), embedder=opened.embedder))
        return [hit.trace.key for hit in answers[-1].hits]

    systems = {"search": _figures(search, queries, gold)}
    for name, ask in _Baselines(opened, list(keys)).systems.items():
        systems[name] = _figures(ask, queries, gold)
    _write(options.run, queries, answers, keys)
    right = [gold[query["id"]] for query in queries]
    return TraceResult(len(queries), systems, *_silence(answers, right))


def _import_corpus(options: TraceOptions, labelled: LabelledSet, opened: Repertoire, report: Report) -> dict[str, str]:
    """Import the labelled traces into an empty home; return the document id of each trace's key."""
    moment = Moment(now(), "", "")
    told = [_told(row) for row in labelled.corpus]
    if not options.at_home:
        done = import_lines(opened.store, map(json.dumps, told), moment=moment)
        report(f"{done.added} traces, {len(done.refused)} lines left out")
        if opened.embedder is not None:
            kept = CachedEmbedder(opened.embedder, options.cache)
            embed_traces(opened.store, kept)
            kept.save()
    traces = [
        trace_of(TraceFields(**{**one, "tags": tuple(one["tags"])}), project="", session="", now=moment.at)
        for one in told
    ]
    return {trace.key: str(row["id"]) for trace, row in zip(traces, labelled.corpus, strict=True)}


def _told(row: Mapping[str, Any]) -> dict[str, Any]:
    """Return a document as a line that can be imported; where it has no title, its first words stand in."""
    text, at = row["text"], row.get("solution_at", len(row["text"]))
    context, solution = text[:at].strip() or "(nothing)", text[at:].strip() or "(nothing)"
    title = str(row.get("title", "")) or next(iter(context.splitlines()), "")[:_TITLE].strip() or "(untitled)"
    tags = [tag for tag in row.get("tags", ()) if tag]
    return {"title": title, "context": context[:TEXT], "solution": solution[:TEXT], "tags": tags}


def _wanted(query: Mapping[str, Any]) -> TraceQuery:
    """Return how a query is asked: what has a `place` was printed by a failing command."""
    text = str(query["text"])
    return TraceQuery("", text, limit=_DEPTH) if "place" in query else TraceQuery(text, limit=_DEPTH)


class _Baselines:
    """The plain ways to answer: FTS5, vectors of problem and solution, both fused by ranks, similarity with trust."""

    def __init__(self, opened: Repertoire, keys: Sequence[str]) -> None:
        self._opened = opened
        known = {opened.store.traces.find(key): key for key in keys}
        self._keys = {node_id: key for node_id, key in known.items() if node_id is not None}
        self.systems: dict[str, Callable[[Mapping[str, Any]], list[str]]] = {
            "fts5": lambda query: self._told(self._words(query))
        }
        if opened.embedder is not None:
            self.systems["vectors"] = lambda query: self._told(self._vectors(query))
            self.systems["rrf"] = lambda query: self._told(fuse_equally((self._words(query), self._vectors(query))))
            self.systems["blend"] = lambda query: self._told(self._blended(query))

    def _told(self, node_ids: Sequence[int]) -> list[str]:
        return [self._keys[one] for one in node_ids if one in self._keys][:_DEPTH]

    def _words(self, query: Mapping[str, Any]) -> list[int]:
        words = content_words(query["text"])[:_WORDS]
        return [one for one, _ in self._opened.store.graph.match(words, limit=_DEEP, weights=(1, 1, 1), view=TRACES)]

    def _vectors(self, query: Mapping[str, Any]) -> list[int]:
        near = self._cosines(query)
        return sorted(near, key=lambda one: -near[one])[:_DEEP]

    def _blended(self, query: Mapping[str, Any]) -> list[int]:
        """Rank by the sum that CommonTrace began with: .6 similarity, .3 trust, .1 recency."""
        near, day = self._cosines(query), today()
        traces = self._opened.store.traces.by_id(sorted(near, key=lambda one: -near[one])[:_DEEP])
        sums = {}
        for one, trace in traces.items():
            trust = self._opened.traces.trust(trace, day)
            fresh = recency(trace.tags, max(trace.at, trust.last), day)
            sums[one] = _SIMILARITY * near[one] + _TRUST * trust.bound + _RECENCY * fresh
        return sorted(sums, key=lambda one: -sums[one])

    def _cosines(self, query: Mapping[str, Any]) -> dict[int, float]:
        assert self._opened.embedder is not None  # noqa: S101 - else there is no such system
        vector = self._opened.embedder.embed_passages([query["text"]])[0]
        best: dict[int, float] = {}
        for space in self._opened.traces.spaces(self._opened.embedder.model):
            for one, score in space.nearest(vector, self._opened.traces.ids(active=True), _DEEP).items():
                best[one] = max(score, best.get(one, -1.0))
        return best


def _figures(
    ask: Callable[[Mapping[str, Any]], list[str]], queries: Sequence[Mapping[str, Any]], gold: Mapping[str, set[str]]
) -> TraceFigures:
    ranks, times = [], []
    for query in queries:
        start = perf_counter()
        found = ask(query)
        times.append((perf_counter() - start) * 1000)
        ranks.append(next((rank for rank, key in enumerate(found, 1) if key in gold[query["id"]]), 0))
    first = sum(rank == 1 for rank in ranks)
    bounds = wilson(first, len(ranks))
    return TraceFigures(
        round(100 * first / len(ranks), 1),
        round(100 * bounds.low, 1),
        round(100 * bounds.high, 1),
        round(100 * sum(1 / rank for rank in ranks if rank) / len(ranks), 1),
        round(100 * sum(0 < rank <= 5 for rank in ranks) / len(ranks), 1),
        *median_and_tail(times),
    )


def _silence(answers: Sequence[TraceAnswer], right: Sequence[set[str]]) -> tuple[float, float]:
    """Return the percent of right first answers that are held back, and of questions that a wrong one would fit."""
    first = [
        found for found, keys in zip(answers, right, strict=True) if found.hits and found.hits[0].trace.key in keys
    ]
    others = [
        [hit for hit in found.hits if hit.trace.key not in keys] for found, keys in zip(answers, right, strict=True)
    ]
    false = sum(confidence_in(hits) >= FITS for hits in others)
    held = sum(not found.fits for found in first)
    return round(100 * held / max(len(first), 1), 1), round(100 * false / max(len(answers), 1), 1)


def _write(
    run: Path, queries: Sequence[Mapping[str, Any]], answers: Sequence[TraceAnswer], keys: Mapping[str, str]
) -> None:
    with open_run(run) as file:
        for query, found in zip(queries, answers, strict=True):
            for rank, hit in enumerate(found.hits, 1):
                name = keys.get(hit.trace.key, hit.trace.key)
                file.write(f"{query['id']}\t{name}\t{rank}\t{hit.score:.6f}\n")
