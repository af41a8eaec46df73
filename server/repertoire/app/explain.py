"""Explains one component: what it is and needs, what it goes with, how it was used, how it stands for a task."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from repertoire.app.correct import CURATOR
from repertoire.domain.answer import Hit, Query
from repertoire.domain.component import (
    ALTERNATIVE_TO,
    CO_OCCURS_WITH,
    CONFLICTS_WITH,
    DEPENDS_ON,
    MENTIONS,
    PART_OF,
    PROVIDES,
    REQUEST,
    SELECTED,
    TWIN_OF,
    Component,
)
from repertoire.domain.errors import UnknownComponent
from repertoire.domain.text import clean_line
from repertoire.ingestion.difference import difference, difference_text
from repertoire.ingestion.twins import SAME_CONTENT
from repertoire.ports import Link, StoredComponent
from repertoire.retrieval.pipeline import Pipeline
from repertoire.retrieval.plan import SEARCH
from repertoire.store.database import Store

_GOES_WITH = (CO_OCCURS_WITH, PART_OF, MENTIONS, ALTERNATIVE_TO)
_MOST, _COPIES = 8, 3


@dataclass(frozen=True)
class Standing:
    """Where a component stands for a task; rank 0: not among the ranked. `first` are the three best."""

    task: str
    rank: int
    hit: Hit | None
    first: tuple[Component, ...]
    fits: bool
    confidence: float


@dataclass(frozen=True)
class Twin:
    """The same component elsewhere: on what evidence, and how what is there differs from what is here."""

    id: str
    installed: bool
    evidence: str
    difference: str


@dataclass(frozen=True)
class Explanation:
    """All that is known of one component."""

    stored: StoredComponent
    provides: tuple[Link, ...] = ()
    needs: tuple[Link, ...] = ()
    needed_by: tuple[Link, ...] = ()
    goes_with: tuple[Link, ...] = ()
    conflicts: tuple[Link, ...] = ()
    copies: tuple[Twin, ...] = ()  # near twins elsewhere
    twins: tuple[str, ...] = ()  # ids of others of this name
    selections: int = 0
    muted: bool = False
    warning: str = ""
    standing: Standing | None = None


@dataclass(frozen=True)
class Asked:
    """Which component, and for which task if any."""

    component: str
    task: str = ""


def explain(store: Store, pipeline: Pipeline, asked: Asked, *, muted: frozenset[str] = frozenset()) -> Explanation:
    """Explain the component of this id, or of this name, the installed one first.

    Raises:
        UnknownComponent: nothing answers to it; the message names what comes near.
    """
    entries = _entries(store, asked.component)
    if not entries:
        raise UnknownComponent(_unknown(pipeline, asked.component))
    stored = entries[0]
    component = stored.component
    links = store.graph.links(component.id)
    return Explanation(
        stored=stored,
        provides=_provided(store, component.id, links),
        needs=_outgoing(links, DEPENDS_ON),
        needed_by=tuple(link for link in links if link.relation == DEPENDS_ON and not link.outgoing)[:_MOST],
        goes_with=_once([link for link in links if link.relation in _GOES_WITH and link.other_name])[:_MOST],
        conflicts=_once([link for link in links if link.relation == CONFLICTS_WITH])[:_MOST],
        copies=_copies(store, component, links),
        twins=tuple(entry.component.id for entry in entries[1:]),
        selections=sum(link.relation == SELECTED and link.other_type == REQUEST for link in links),
        muted=bool(muted & {component.id, stored.source, component.repository}),
        standing=_standing(pipeline, asked.task, component) if asked.task else None,
    )


def _entries(store: Store, asked: str) -> list[StoredComponent]:
    wanted = asked.strip().removeprefix("/")
    entry = store.graph.by_key(wanted)
    if entry is not None:
        return [entry]
    plugin, _, name = wanted.rpartition(":")
    of_name = store.graph.by_name(wanted) or store.graph.by_name(name)
    return [entry for entry in of_name if not plugin or entry.component.plugin == plugin] or of_name


def _copies(store: Store, component: Component, links: Sequence[Link]) -> tuple[Twin, ...]:
    """Return the nearest copies, those with the same content after those that differ: they tell nothing new."""
    near = sorted((link for link in links if link.relation == TWIN_OF), key=lambda link: link.evidence == SAME_CONTENT)
    found = []
    for link in near[:_COPIES]:
        stored = store.graph.by_key(link.other)
        if stored is not None:
            other = stored.component
            told = difference((component.description, component.body), (other.description, other.body))
            found.append(Twin(other.id, other.installed, link.evidence, difference_text(told)))
    return tuple(found)


def _provided(store: Store, component: str, links: Sequence[Link]) -> tuple[Link, ...]:
    """Return what it provides; what a curator said replaces what was found, also before its source is read again."""
    provided = _outgoing(links, PROVIDES)
    if component not in store.preferences.corrections():
        return provided
    return tuple(link for link in provided if link.evidence == CURATOR)


def _outgoing(links: Sequence[Link], relation: str) -> tuple[Link, ...]:
    return _once([link for link in links if link.relation == relation and link.outgoing])


def _once(links: Sequence[Link]) -> tuple[Link, ...]:
    return tuple({link.other: link for link in reversed(links)}.values())[::-1]


def _standing(pipeline: Pipeline, task: str, component: Component) -> Standing:
    ranking = pipeline.rank(Query(task), intent=SEARCH)
    ids = [ranking.snapshot.summaries[row].id for row in ranking.rows.tolist()]
    rank = ids.index(component.id) + 1 if component.id in ids else 0
    hit = pipeline.hits(ranking, ranking.rows[rank - 1 : rank])[0] if rank else None
    first = tuple(found.component for found in pipeline.hits(ranking, ranking.rows[:3]))
    return Standing(task, rank, hit, first, ranking.fits, ranking.confidence)


def _unknown(pipeline: Pipeline, asked: str) -> str:
    ranking = pipeline.rank(Query(asked), intent=SEARCH)
    near = pipeline.hits(ranking, ranking.rows[:3])
    listed = ", ".join(f"{clean_line(hit.component.name, 60)} ({hit.component.id})" for hit in near)
    hint = f"; the nearest are {listed}" if listed else "; search_components finds one by what it does"
    return f"no component has the id or name {clean_line(asked, 80)!r}{hint}"
