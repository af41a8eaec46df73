"""Finds components that a question asks for by id or name, and answers with them alone if it is only that name."""

from __future__ import annotations

import numpy as np

from repertoire.domain.text import spellings
from repertoire.ports import GraphReader, StoredComponent
from repertoire.retrieval.arrays import Floats, Mask, Rows
from repertoire.retrieval.component_reader import ComponentReader
from repertoire.retrieval.fuse import NAME
from repertoire.retrieval.plan import QueryPlan
from repertoire.retrieval.ranking import Ranking
from repertoire.retrieval.similar_requests import RequestEvidence
from repertoire.retrieval.snapshot import Snapshot
from repertoire.retrieval.stage_reports import StageLog
from repertoire.retrieval.walk import Walk

NAMED = 100.0  # log-odds for a component that was asked for by name; more than all other evidence together


_MOST_NAMED = 200  # components of one name that are read


def find_by_name(graph: GraphReader, asked: str, *, started: bool = True) -> list[StoredComponent]:
    """Return the component with this id, else all components with this name, installed ones first.

    `plugin:name` means the plugin's component, else one of this name in a repository or, without a plugin, in a folder
    that is called so, else, if `started`, what Claude Code starts by it.
    """
    named = (_find(graph, wanted, started=started) for wanted in spellings(asked.strip().removeprefix("/")))
    return next((found for found in named if found), [])


def _find(graph: GraphReader, wanted: str, *, started: bool) -> list[StoredComponent]:
    entry = graph.by_key(wanted)
    if entry is not None:
        return [entry]
    whole = graph.by_name(wanted, limit=_MOST_NAMED)  # a name may hold a colon itself
    if whole:
        return whole
    plugin, _, name = wanted.rpartition(":")
    same = graph.by_name(name, limit=_MOST_NAMED) if plugin and name else []
    of_plugin = [found for found in same if found.component.plugin.lower() == plugin.lower()]
    of_place = of_plugin or [found for found in same if _lies_in(found, plugin)]
    return find_started(graph, wanted) if started and not of_place else of_place


def _lies_in(found: StoredComponent, place: str) -> bool:
    """Tell whether a component's repository or, if it is of no plugin, one of its folders is called so."""
    component, part = found.component, f"/{place.replace(':', '/').lower()}/"
    folders = component.path.rpartition("/")[0] if not component.plugin else ""
    return f"/{component.repository}/".lower().endswith(part) or part in f"/{folders}/".lower()


def find_started(graph: GraphReader, wanted: str) -> list[StoredComponent]:
    """Return the components that Claude Code starts by this name once they are installed, installed ones first."""
    last = wanted.rpartition(":")[2]
    found = [*graph.by_name(last, limit=_MOST_NAMED), *graph.skills_in(last)] if last else []
    own = {entry.node_id: entry for entry in found if entry.component.call_name.lower() == wanted.lower()}
    return sorted(own.values(), key=lambda entry: not entry.component.installed)


def named_rows(graph: GraphReader, plan: QueryPlan, snapshot: Snapshot) -> Rows:
    """Return the rows whose id or name equals the whole question, whether they are allowed or not."""
    if not plan.name:
        return np.zeros(0, dtype=np.int64)
    # What is started is looked for among all ids, once a spelling: too slow for every question with a blank.
    stored = find_by_name(graph, plan.name, started=len(plan.name.split()) == 1)
    rows, known = snapshot.rows_of(np.array([entry.node_id for entry in stored], dtype=np.int64))
    return rows[known]


def odds_of_named(scores: Floats, named: Rows) -> Floats:
    """Return log-odds that lift the named rows above all others and keep their order."""
    odds = np.zeros(len(scores))
    odds[named] = np.maximum(scores[named], 0.0) - scores[named] + NAMED
    return odds


def answered_by_name(
    plan: QueryPlan, reader: ComponentReader, snapshot: Snapshot, rows: Rows, silenced: Mask, stage_log: StageLog
) -> Ranking:
    """Return the named rows as the whole answer; `silenced` rows stand for none of them."""
    size = len(snapshot)
    scores = np.zeros(size)
    scores[rows] = np.linspace(1.0, 0.9, len(rows))
    return Ranking(
        plan,
        reader,
        snapshot,
        rows,
        scores,
        {NAME: scores},
        np.zeros(size),
        np.zeros(size),
        Walk.nowhere(snapshot),
        RequestEvidence.silent(size),
        silenced,
        confidence=1.0,
        unaided=1.0,
        fits=True,
        report=stage_log.reports,
        degraded=(),
    )
