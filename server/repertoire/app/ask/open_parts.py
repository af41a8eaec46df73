"""Asks apart for each clause of a task that names a gap of its set, and tells which components help with it."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import replace

from repertoire.ingestion.capabilities import Vocabulary
from repertoire.retrieval.arrays import Rows
from repertoire.retrieval.pipeline import Pipeline
from repertoire.retrieval.plan import RECOMMEND
from repertoire.retrieval.ranking import Ranking

_CLAUSES = 3  # clauses that are asked apart: each costs as much as the task itself
_FIRST = 5  # components of a clause's ranking that are looked at
_HELPS = 0.75  # chance of helping with a clause from which on a component serves it


def open_parts(
    pipeline: Pipeline,
    ranking: Ranking,
    gaps: Collection[str],
    vocabulary: Vocabulary,
    *,
    members: Rows,
    muted: frozenset[str],
) -> tuple[Mapping[int, float], ...]:
    """Return for each clause that names a gap what likely helps with it, by row, with the chance of that.

    It provides a gap that the clause names, and helps with the clause more likely than any member of the set.
    """
    found = []
    named = {clause: sorted(set(gaps).intersection(vocabulary.count(clause))) for clause in ranking.plan.clauses}
    for clause in [clause for clause, terms in named.items() if terms][:_CLAUSES]:
        part = pipeline.rank(replace(ranking.plan.query, text=clause), intent=RECOMMEND, muted=muted)
        if part.snapshot is not ranking.snapshot:
            continue  # the store changed meanwhile: rows of the two are not the same
        provides = part.snapshot.provided(named[clause])
        chances = {row: part.chances(row)[1] for row in part.answering[:_FIRST].tolist() if provides[row]}
        least = max([_HELPS, *(part.chances(row)[1] for row in members.tolist())])
        found.append({row: helps for row, helps in chances.items() if helps >= least and row not in members})
    return tuple(filter(None, found))
