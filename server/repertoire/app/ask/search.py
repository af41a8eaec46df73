"""Answers a search: ranks components for a query, with reasons, and says whether any of them fits."""

from __future__ import annotations

from dataclasses import replace

from repertoire.app.ask.combinations import combinations, companions, missing_data_notes, unknown_name_notes
from repertoire.domain.answer import Answer, Query
from repertoire.domain.errors import InvalidRequest
from repertoire.retrieval.filters import silenced_rows
from repertoire.retrieval.pipeline import Pipeline
from repertoire.retrieval.plan import SEARCH, combined_topic


def search(
    pipeline: Pipeline,
    query: Query,
    *,
    muted: frozenset[str] = frozenset(),
    refused: frozenset[str] = frozenset(),
    elsewhere: frozenset[str] = frozenset(),
) -> Answer:
    """Rank the components for a query; hits of `muted` ids and sources are marked as muted, of `refused` ids as that.

    Sources `elsewhere` are other projects' own: what they hold is not there in this one, and is not found.
    The answer also holds known combinations, if the query asks for them, and companions of `query.using`.

    Raises:
        InvalidRequest: the query is empty or asks for no results.
    """
    if not query.text.strip():
        message = "the query is empty; say what the component should do, or name one"
        raise InvalidRequest(message)
    if query.limit < 1:
        message = f"limit is {query.limit}; ask for 1 result or more"
        raise InvalidRequest(message)
    topic = combined_topic(query.text)
    ranking = pipeline.rank(replace(query, text=topic) if topic else query, intent=SEARCH, muted=elsewhere)
    rows = ranking.rows[: query.limit]
    silenced = rows[silenced_rows(ranking.snapshot, muted)[rows]].tolist()
    silent = {ranking.snapshot.summaries[row].id for row in silenced}
    hits = [
        replace(hit, muted=hit.component.id in silent, refused=hit.component.id in refused)
        for hit in pipeline.hits(ranking, rows)
    ]
    known = combinations(pipeline, ranking, topic, muted=muted) if topic else ()
    beside = companions(pipeline, ranking, (*query.using, *((topic,) if topic else ())), muted=muted)
    fits = ranking.fits or bool(known)
    degraded = (
        *ranking.degraded,
        *unknown_name_notes(ranking, query.using),
        *missing_data_notes(ranking, topic, known),
    )
    return Answer(tuple(hits), fits, ranking.confidence, ranking.report, degraded, known, beside)
