"""Components that are asked for by id or name: they come first, and alone where nothing else can be meant."""

from __future__ import annotations

import numpy as np

from repertoire.ports import GraphReader
from repertoire.retrieval.fuse import NAME
from repertoire.retrieval.history import Past
from repertoire.retrieval.plan import Plan
from repertoire.retrieval.ranking import Ranking
from repertoire.retrieval.shelf import Shelf
from repertoire.retrieval.snapshot import Floats, Mask, Rows, Snapshot
from repertoire.retrieval.trace import Trace
from repertoire.retrieval.walk import Walk

NAMED = 100.0  # log-odds that nothing outweighs: the component was asked for by its name


def named_rows(graph: GraphReader, plan: Plan, snapshot: Snapshot, allowed: Mask) -> Rows:
    """Return the allowed rows whose id or name the whole question is."""
    if not plan.name:
        return np.zeros(0, dtype=np.int64)
    by_key = graph.by_key(plan.name)
    stored = [by_key] if by_key is not None else graph.by_name(plan.name)
    rows, known = snapshot.rows_of(np.array([entry.node_id for entry in stored], dtype=np.int64))
    rows = rows[known]
    return rows[allowed[rows]]


def odds_of_named(scores: Floats, named: Rows) -> Floats:
    """Return what lifts the named rows over all others, in their own order."""
    odds = np.zeros(len(scores))
    odds[named] = np.maximum(scores[named], 0.0) - scores[named] + NAMED
    return odds


def answered_by_name(plan: Plan, shelf: Shelf, snapshot: Snapshot, rows: Rows, trace: Trace) -> Ranking:
    """Return the named rows as the whole answer."""
    size = len(snapshot)
    scores = np.zeros(size)
    scores[rows] = np.linspace(1.0, 0.9, len(rows))
    return Ranking(
        plan,
        shelf,
        snapshot,
        rows,
        scores,
        {NAME: scores},
        np.zeros(size),
        np.zeros(size),
        Walk.nowhere(snapshot),
        Past.silent(size),
        confidence=1.0,
        fits=True,
        report=trace.reports,
        degraded=(),
    )
