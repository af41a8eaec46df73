"""Answers "what is there for this?": a ranked list with reasons, or that nothing fits."""

from __future__ import annotations

from dataclasses import replace

from repertoire.domain.answer import Answer, Query
from repertoire.domain.errors import InvalidRequest
from repertoire.retrieval.filters import silenced_rows
from repertoire.retrieval.pipeline import Pipeline
from repertoire.retrieval.plan import SEARCH


def search(pipeline: Pipeline, query: Query, *, muted: frozenset[str] = frozenset()) -> Answer:
    """Rank the components that serve a query; `muted` ids and sources are marked as such.

    Raises:
        InvalidRequest: the query is empty or asks for no results.
    """
    if not query.text.strip():
        message = "the query is empty; say what the component should do, or name one"
        raise InvalidRequest(message)
    if query.limit < 1:
        message = f"limit is {query.limit}; ask for 1 result or more"
        raise InvalidRequest(message)
    ranking = pipeline.rank(query, intent=SEARCH)
    rows = ranking.rows[: query.limit]
    silenced = rows[silenced_rows(ranking.snapshot, muted)[rows]].tolist()
    silent = {ranking.snapshot.summaries[row].id for row in silenced}
    hits = [replace(hit, muted=hit.component.id in silent) for hit in pipeline.hits(ranking, rows)]
    return Answer(tuple(hits), ranking.fits, ranking.confidence, ranking.report, ranking.degraded)
