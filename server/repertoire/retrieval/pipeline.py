"""Runs the stages in order: plan, words, vectors, graph, fuse, gate; every stage leaves a report."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from time import perf_counter

import numpy as np

from repertoire.domain.answer import BODY_SPACE, DESCRIPTION_SPACE, Hit, Query, StageReport, Why
from repertoire.domain.component import Component
from repertoire.domain.errors import ModelUnavailable
from repertoire.ports import Embedder, GraphReader, StoredComponent, VectorReader, Vectors
from repertoire.retrieval import fuse as fusing
from repertoire.retrieval import why
from repertoire.retrieval.gate import FITS, Evidence, confidence
from repertoire.retrieval.lexical import lexical_scores
from repertoire.retrieval.plan import NAMED, Capabilities, Plan, make_plan
from repertoire.retrieval.snapshot import Floats, Mask, Rows, Snapshot, Snapshots
from repertoire.retrieval.vector import similarities
from repertoire.retrieval.walk import Walk, walk

WEIGHTS = {fusing.WORDS: 0.5, fusing.BODY: 0.25, fusing.DESCRIPTION: 0.25, fusing.GRAPH: 0.1}
_SPACE_OF = {fusing.BODY: BODY_SPACE, fusing.DESCRIPTION: DESCRIPTION_SPACE}
_MAX_RANKED = 200


@dataclass(frozen=True)
class Ranking:
    """Components in order, and all that was learned on the way; `rows` are positions in the snapshot's summaries."""

    plan: Plan
    snapshot: Snapshot
    rows: Rows
    scores: Floats
    parts: Mapping[str, Floats]
    similarity: Floats
    walk: Walk
    confidence: float
    fits: bool
    report: tuple[StageReport, ...]
    degraded: tuple[str, ...]


@dataclass
class _Trace:
    report: list[StageReport] = field(default_factory=list)
    degraded: list[str] = field(default_factory=list)

    @contextmanager
    def stage(self, name: str) -> Iterator[list[str]]:
        detail: list[str] = []
        start = perf_counter()
        yield detail
        self.report.append(StageReport(name, 1000.0 * (perf_counter() - start), ", ".join(detail)))


class Pipeline:
    """Answers questions from one store with one model."""

    def __init__(
        self,
        graph: GraphReader,
        vectors: VectorReader,
        *,
        embedder: Embedder | None,
        capabilities: Capabilities | None = None,
    ) -> None:
        """Without an embedder answers come from words and graph, and say so."""
        self._graph = graph
        self._embedder = embedder
        self._capabilities = capabilities
        self._snapshots = Snapshots(graph, vectors, model=embedder.model if embedder is not None else "")

    def rank(self, query: Query, *, intent: str, muted: frozenset[str] = frozenset()) -> Ranking:
        """Rank the components that a query may be answered with; `muted` are ids and sources that never are."""
        trace = _Trace()
        with trace.stage("plan") as detail:
            snapshot = self._snapshots.current()
            plan = make_plan(query, intent, self._capabilities)
            allowed = allowed_rows(snapshot, query, muted)
            detail += [f"{len(plan.words)} words", f"{int(allowed.sum())} of {len(snapshot)} components"]
            named = self._named(plan, snapshot, allowed)
        if len(named) and plan.intent != NAMED and _is_identifier(plan.name):
            return self._by_name(plan, snapshot, named, trace)
        channels, similarity = self._channels(plan, snapshot, allowed, trace)
        seeds, _ = fusing.fuse({k: np.where(allowed, v, 0.0) for k, v in channels.items()}, WEIGHTS, len(snapshot))
        with trace.stage("ppr") as detail:
            walked = (
                walk(snapshot, seeds, using=query.using) if "graph" not in query.without else Walk.nowhere(snapshot)
            )
            detail.append(f"{len(walked.seeds)} seeds")
        with trace.stage("fuse") as detail:
            channels = {**channels, fusing.GRAPH: walked.ranks}
            scores, parts = fusing.fuse(
                {k: np.where(allowed, v, 0.0) for k, v in channels.items()}, WEIGHTS, len(snapshot)
            )
            scores[named] += 1.0
            rows = _best(scores, _MAX_RANKED)
            detail.append(f"{int((scores > 0).sum())} scored")
        with trace.stage("gate") as detail:
            sure = 0.0
            if len(rows):
                first = rows[:3]
                coverage = float(channels[fusing.WORDS][first].max() > 0)
                sure = 1.0 if len(named) else confidence(Evidence(float(similarity[first].max()), coverage))
            detail.append(f"confidence {sure:.2f}")
        return Ranking(
            plan,
            snapshot,
            rows,
            scores,
            parts,
            similarity,
            walked,
            sure,
            sure >= FITS,
            tuple(trace.report),
            tuple(trace.degraded),
        )

    def hits(self, ranking: Ranking, rows: Rows) -> list[Hit]:
        """Return the hits at these rows, each with the parts of its score and why it is there."""
        snapshot = ranking.snapshot
        stored = self._graph.components(int(snapshot.summaries[row].node_id) for row in rows.tolist())
        found = []
        for row in rows.tolist():
            entry: StoredComponent | None = stored.get(snapshot.summaries[row].node_id)
            if entry is None:  # removed since the snapshot was taken
                continue
            parts = {name: float(part[row]) for name, part in ranking.parts.items()}
            found.append(Hit(entry.component, float(ranking.scores[row]), parts, _whys(ranking, row, entry.component)))
        return found

    def _named(self, plan: Plan, snapshot: Snapshot, allowed: Mask) -> Rows:
        if not plan.name:
            return np.zeros(0, dtype=np.int64)
        by_key = self._graph.by_key(plan.name)
        stored = [by_key] if by_key is not None else self._graph.by_name(plan.name)
        rows, known = snapshot.rows_of(np.array([entry.node_id for entry in stored], dtype=np.int64))
        rows = rows[known]
        return rows[allowed[rows]]

    def _by_name(self, plan: Plan, snapshot: Snapshot, rows: Rows, trace: _Trace) -> Ranking:
        scores = np.zeros(len(snapshot))
        scores[rows] = np.linspace(1.0, 0.9, len(rows))
        return Ranking(
            plan,
            snapshot,
            rows,
            scores,
            {"name": scores},
            np.zeros(len(snapshot)),
            Walk.nowhere(snapshot),
            confidence=1.0,
            fits=True,
            report=tuple(trace.report),
            degraded=(),
        )

    def _channels(
        self, plan: Plan, snapshot: Snapshot, allowed: Mask, trace: _Trace
    ) -> tuple[dict[str, Floats], Floats]:
        without = plan.query.without
        channels = {}
        with trace.stage("words") as detail:
            words = plan.words if "text" not in without else ()
            channels[fusing.WORDS] = lexical_scores(self._graph, words, snapshot, allowed)
            detail.append(f"{int((channels[fusing.WORDS] > 0).sum())} hold a word")
        with trace.stage("vectors") as detail:
            vector = self._embed(plan.query.text, trace) if "vectors" not in without else None
            for name, space in _SPACE_OF.items():
                channels[name] = similarities(snapshot.spaces.get(space), vector, len(snapshot))
            done = len(snapshot.spaces[BODY_SPACE].rows)
            if vector is not None and done < len(snapshot):
                trace.degraded.append(f"vectors {done}/{len(snapshot)}")
            detail.append(f"{done} vectors" if vector is not None else "skipped")
        return channels, np.maximum(channels[fusing.BODY], channels[fusing.DESCRIPTION])

    def _embed(self, text: str, trace: _Trace) -> Vectors | None:
        if self._embedder is None:
            trace.degraded.append("no embedding model: words and graph alone")
            return None
        try:
            vectors = self._embedder.embed_queries([text])
        except ModelUnavailable as error:
            trace.degraded.append(f"no embedding model: {error}")
            return None
        vector: Vectors = vectors[0]
        return vector


def allowed_rows(snapshot: Snapshot, query: Query, muted: frozenset[str]) -> Mask:
    """Return which rows may be in the answer at all."""
    allowed = np.ones(len(snapshot), dtype=np.bool_)
    if not len(snapshot):
        return allowed
    if query.types:
        allowed &= np.isin(snapshot.column("type"), query.types)
    if query.installed is not None:
        allowed &= snapshot.column("installed") == query.installed
    if query.repository:
        allowed &= snapshot.column("repository") == query.repository
    if muted:
        silenced = sorted(muted)
        for name in ("id", "source", "repository"):
            allowed &= ~np.isin(snapshot.column(name), silenced)
    return allowed


def _is_identifier(name: str) -> bool:
    """Tell a name that can only be a name from a plain word, which is as likely a topic."""
    return any(mark in name for mark in ":-_/.")


def _best(scores: Floats, limit: int) -> Rows:
    limit = min(limit, int((scores > 0).sum()))
    if limit == 0:
        return np.zeros(0, dtype=np.int64)
    head = np.argpartition(-scores, limit - 1)[:limit]
    return head[np.lexsort((head, -scores[head]))]


def _whys(ranking: Ranking, row: int, component: Component) -> tuple[Why, ...]:
    plan, snapshot = ranking.plan, ranking.snapshot
    if "name" in ranking.parts:
        return (why.name_why(component),)
    reasons = why.capability_whys(plan.capabilities, int(snapshot.positions[row]), snapshot)
    by_words = why.word_why(plan.words, component)
    if by_words is not None:
        reasons.append(by_words)
    if ranking.similarity[row] > 0.0:
        reasons.append(why.similarity_why(float(ranking.similarity[row])))
    path = ranking.walk.path_to(row)
    if path:
        reasons.append(why.path_why(path))
    return tuple(reasons)
