"""Answers a search: ranks components for a query, with reasons, and says whether any of them fits."""

from __future__ import annotations

from dataclasses import replace

from repertoire.app.ask.combinations import combinations, companions, missing_data_notes, unknown_name_notes
from repertoire.app.lookup import similar_names
from repertoire.domain.answer import Answer, Hit, Query
from repertoire.domain.errors import InvalidRequest
from repertoire.domain.text import clean_line
from repertoire.retrieval.filters import allowed_rows, silenced_rows
from repertoire.retrieval.pipeline import Pipeline
from repertoire.retrieval.plan import SEARCH, combined_topic
from repertoire.retrieval.ranking import Ranking

_MISSPELT = 0.8  # similarity from which a word is taken for a misspelt name; any word is a little like some name
_NAMED = 80


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
    marked = (replace(hit, muted=hit.component.id in silent) for hit in pipeline.hits(ranking, rows))
    hits = [_refused(hit) if hit.component.id in refused else hit for hit in marked]
    known = combinations(pipeline, ranking, topic, muted=muted) if topic else ()
    beside = companions(pipeline, ranking, (*query.using, *((topic,) if topic else ())), muted=muted)
    fits = ranking.fits or bool(known)
    degraded = (
        *ranking.degraded,
        *unknown_name_notes(ranking, query.using),
        *missing_data_notes(ranking, topic, known),
        *(() if fits else _spelling_notes(ranking, query.text, elsewhere)),
    )
    return Answer(tuple(hits), fits, ranking.confidence, ranking.report, degraded, known, beside)


def _refused(hit: Hit) -> Hit:
    """Return a hit that settings refuse, without the lines that would install it: the client would not run it."""
    if hit.component.installed:
        return replace(hit, refused=True)
    return replace(hit, refused=True, component=replace(hit.component, install=()), unit=None)


def _spelling_notes(ranking: Ranking, text: str, elsewhere: frozenset[str]) -> tuple[str, ...]:
    """Return a note on names that a single word may be a misspelling of."""
    word = text.strip()
    if " " in word:
        return ()
    found = allowed_rows(ranking.snapshot, ranking.plan.query, elsewhere)
    near = similar_names(word, ranking.snapshot.column("name")[found].tolist(), least=_MISSPELT)
    return (f"did you mean {', '.join(clean_line(name, _NAMED) for name in near)}?",) if near else ()
