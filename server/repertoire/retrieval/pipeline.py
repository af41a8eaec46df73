"""Runs the stages in order: plan, words, vectors, graph, fuse, gate; every stage leaves a report."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from time import perf_counter

import numpy as np

from repertoire.domain.answer import BODY_SPACE, DESCRIPTION_SPACE, Hit, Query, StageReport, Why
from repertoire.domain.component import Component
from repertoire.domain.errors import ModelUnavailable
from repertoire.ports import Embedder, GraphReader, StoredComponent, VectorReader, Vectors
from repertoire.retrieval import why
from repertoire.retrieval.fuse import FEATURES, GRAPH, PRIORS, Features, conditions, features, fuse
from repertoire.retrieval.gate import FITS, Evidence, confidence
from repertoire.retrieval.lexical import Lexical, lexical
from repertoire.retrieval.plan import NAMED, Capabilities, Plan, make_plan
from repertoire.retrieval.snapshot import Floats, Mask, Rows, Snapshot, Snapshots
from repertoire.retrieval.vector import Semantic, semantic
from repertoire.retrieval.walk import Walk, best_rows, walk

_MAX_RANKED = 200
_NAMED = 100.0  # log-odds that nothing outweighs: the component was asked for by its name
_SPREAD = 4.0  # log-odds by which a score falls to a third of the best


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
        evidence, similarity = self._evidence(plan, snapshot, allowed, trace)
        with trace.stage("fuse") as detail:
            scores, parts = fuse(evidence)
            detail.append(f"{int(allowed.sum())} scored")
        with trace.stage("ppr") as detail:
            walked = Walk.nowhere(snapshot)
            if "graph" not in query.without:
                walked = walk(snapshot, scores, allowed, using=query.using)
            parts[GRAPH] = walked.score
            scores = scores + walked.score
            detail.append(f"{len(walked.seeds)} seeds, {int((walked.score > 0).sum())} reached")
        scores[named] += _NAMED
        rows = best_rows(np.where(allowed & _spoken_for(evidence), scores, -np.inf), _MAX_RANKED)
        with trace.stage("gate") as detail:
            sure = 1.0 if len(named) else confidence(_gate_evidence(rows, similarity, evidence))
            detail.append(f"confidence {sure:.2f}")
        return Ranking(
            plan,
            snapshot,
            rows,
            _relative(scores, rows),
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

    def _evidence(self, plan: Plan, snapshot: Snapshot, allowed: Mask, trace: _Trace) -> tuple[Features, Floats]:
        without, size = plan.query.without, len(snapshot)
        with trace.stage("words") as detail:
            words = Lexical.silent(size)
            if "text" not in without:
                words = lexical(self._graph, plan.words, plan.clauses, snapshot, allowed)
            detail.append(f"{int((words.whole > 0).sum())} hold a word")
        with trace.stage("vectors") as detail:
            body = description = Semantic.silent(size)
            vectors = self._embed([plan.query.text, *plan.clauses], trace) if "vectors" not in without else None
            if vectors is not None:
                body = semantic(snapshot.spaces[BODY_SPACE], vectors, size)
                description = semantic(snapshot.spaces[DESCRIPTION_SPACE], vectors, size)
                done = len(snapshot.spaces[BODY_SPACE].rows)
                if done < size:
                    trace.degraded.append(f"vectors {done}/{size}")
            detail.append("skipped" if vectors is None else f"{len(vectors)} compared")
        asked = conditions(plan.words, plan.clauses, flatness=words.flatness, length=snapshot.length)
        priors = snapshot.priors
        return features(words, body, description, priors, asked), np.maximum(body.whole, description.whole)

    def _embed(self, texts: Sequence[str], trace: _Trace) -> Vectors | None:
        if self._embedder is None:
            trace.degraded.append("no embedding model: words and graph alone")
            return None
        try:
            return self._embedder.embed_queries(texts)
        except ModelUnavailable as error:
            trace.degraded.append(f"no embedding model: {error}")
            return None


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


def _spoken_for(evidence: Features) -> Mask:
    """Return the rows that any word or vector speaks for."""
    return np.asarray(evidence.table[: len(FEATURES) - PRIORS].max(axis=0, initial=0.0) > 0.0)


def _relative(scores: Floats, rows: Rows) -> Floats:
    """Return scores from 0 to 1, 1 for the best: how much less likely than it a row is."""
    best = float(scores[rows[0]]) if len(rows) else 0.0
    return np.asarray(np.exp(np.minimum(scores - best, 0.0) / _SPREAD))


def _gate_evidence(rows: Rows, similarity: Floats, evidence: Features) -> Evidence:
    first = rows[:3]
    return Evidence(float(similarity[first].max(initial=0.0)), float(evidence.table[0][first].max(initial=0.0)))


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
