"""Reports the state of a home: sources, counts, vectors, recent offers and uses, mutes, and degraded parts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timezone
from itertools import chain, groupby
from pathlib import Path

from repertoire import __version__
from repertoire.app.ask.overlaps import count_installed
from repertoire.app.commons.membership import read, trouble
from repertoire.app.current_project import current_project
from repertoire.app.health.client_policy import limits
from repertoire.app.health.disk_space import MEND, lacking
from repertoire.app.kernel import Repertoire, aged_in, ageing_of
from repertoire.app.session.unmet_needs import Gap, recurring
from repertoire.app.sources.unreachable import LostSource, lost_sources
from repertoire.app.upkeep import commons_breaker as breaker
from repertoire.app.upkeep.background_refresh import running
from repertoire.domain.answer import BODY_SPACE
from repertoire.domain.errors import InvalidRequest
from repertoire.domain.event import FAILED, GAP, HELD, OFFERED, RESCUED, SELECTED, TAKEN_BACK, Event
from repertoire.domain.hint import silenced
from repertoire.domain.rescue import rescue_of
from repertoire.learning.outcomes import standing
from repertoire.learning.selections import OURS
from repertoire.sources.plugin_diff import compare
from repertoire.store.database import Store
from repertoire.store.preferences import MUTED, Mute
from repertoire.store.sources import SourceRow
from repertoire.store.vectors import Progress
from repertoire.traces.trust import latest

_RECENT, _LOOKED_AT = 8, 60
NOTHING_KNOWN = "no component is known yet: a refresh reads the installed ones; `repertoire refresh` runs it now"
_GAPS = 500  # newest gap events among which recurring needs are counted


@dataclass(frozen=True)
class Status:
    """The state of one home."""

    version: str
    home: str
    megabytes: float
    counts: Mapping[str, int]
    sources: tuple[SourceRow, ...]
    revision: int
    model: str  # empty if no model can be used
    model_loaded: bool
    vectors: Progress
    requests: int
    store_prompts: str
    hints: bool
    offered: tuple[Event, ...]
    selected: tuple[Event, ...]
    failed: tuple[Event, ...]
    held: tuple[Event, ...]  # hints that were held back
    gaps: tuple[Gap, ...]
    muted: Mapping[str, str]
    flagged: Mapping[str, int] = field(default_factory=dict)  # number of components by gravest severity
    undescribed: tuple[str, ...] = ()  # ids of components without a capability, installed ones first
    overlaps: int = 0  # overlaps among installed components, without dismissed ones
    stale: int = 0  # number of stale installed components
    copies: Mapping[str, int] = field(default_factory=dict)  # installed plugins by state: current, outdated, ...
    lost: tuple[LostSource, ...] = ()
    traces: Mapping[str, int] = field(default_factory=dict)  # by state
    votes: int = 0
    refreshing: bool = False
    commons: str = ""  # which one is joined and when it was last asked; empty where none is
    notes: tuple[str, ...] = ()  # degraded parts, each with a remedy


def status(repertoire: Repertoire, *, environment: Mapping[str, str] | None = None) -> Status:
    """Return the state of a home; with an environment, installed plugins are compared with their marketplaces."""
    store, embedder = repertoire.store, repertoire.embedder
    model = embedder.model if embedder is not None else ""
    events = store.events
    return Status(
        version=__version__,
        home=str(repertoire.home),
        megabytes=round(store.path.stat().st_size / 1e6, 1) if store.path.exists() else 0.0,
        counts=store.graph.counts(),
        sources=tuple(store.sources.all()),
        revision=store.graph.revision(),
        model=model,
        model_loaded=embedder is not None and embedder.loaded,
        vectors=store.vectors.progress(BODY_SPACE, model),
        requests=store.requests.count(),
        store_prompts=repertoire.settings.store_prompts,
        hints=repertoire.settings.hints and not silenced(environment or {}),
        offered=_latest(events.recent(kinds=(OFFERED,), limit=_LOOKED_AT)),
        selected=_latest(standing(events.recent(kinds=(SELECTED, TAKEN_BACK), limit=_LOOKED_AT))),
        failed=tuple(events.recent(kinds=(FAILED,), limit=_RECENT)),
        held=_latest(events.recent(kinds=(HELD,), limit=_LOOKED_AT)),
        gaps=recurring(events.recent(kinds=(GAP,), limit=_GAPS)),
        muted=_muted(store.preferences.mutes()),
        flagged=store.flags.counts(),
        undescribed=tuple(store.graph.without_capabilities(except_plugin=OURS)),
        overlaps=count_installed(store),
        stale=_stale(repertoire),
        copies=Counter(copy.state for copy in compare(environment)) if environment is not None else {},
        lost=lost_sources(store),
        traces=store.traces.counts(),
        votes=len(latest(store.traces.votes())),
        refreshing=not store.read_only and running(repertoire.home),
        commons=_commons(repertoire),
        notes=(*_notes(repertoire), *_policy_notes(environment)),
    )


def _policy_notes(environment: Mapping[str, str] | None) -> Iterator[str]:
    if environment is not None:
        found = limits(environment, project=Path(current_project(environment)))
        yield from (f"{one.text}; {one.mend}" for one in found)


def _commons(repertoire: Repertoire) -> str:
    try:
        joined = read(repertoire.home)
    except InvalidRequest:  # a note tells it
        return ""
    if joined is None:
        return ""
    circuit = breaker.state(joined, datetime.now(timezone.utc))
    health = "healthy" if circuit == breaker.CLOSED else f"not answering, circuit breaker {circuit}"
    told = health if joined.synced or joined.failures else "not asked yet"
    who = f"{joined.url}, community {joined.community}, as {joined.member}"
    return f"{who}: {told}; last complete sync: {joined.synced or 'never'}"


def _muted(mutes: Sequence[Mute]) -> dict[str, str]:
    told: dict[str, list[str]] = {}
    for mute in mutes:
        how = mute.scope if mute.how == MUTED else f"{mute.scope}, {mute.how}"
        told.setdefault(mute.target, []).append(f"{how}, in {mute.project} alone" if mute.project else how)
    return {target: "; ".join(where) for target, where in told.items()}


def _stale(repertoire: Repertoire) -> int:
    aged = aged_in(ageing_of(repertoire.settings))
    return sum(row.installed and bool(aged(row.type, row.last_commit)) for row in repertoire.store.graph.summaries())


def _latest(events: Sequence[Event]) -> tuple[Event, ...]:
    """Return the newest event of each component, newest first; of one answer the best rank first."""
    newest: dict[str, Event] = {}
    answers = groupby(events, key=lambda event: (event.at, event.session, event.request))
    for event in chain.from_iterable(sorted(answer, key=_rank) for _, answer in answers):
        newest.setdefault(event.node or str(event.data.get("name")), event)
    return tuple(newest.values())[:_RECENT]


def _rank(event: Event) -> int:
    rank = event.data.get("rank")
    return rank if isinstance(rank, int) else 0


def _rescued(store: Store) -> tuple[str, ...]:
    """Return a note on the last rescue while the damaged file still exists."""
    for event in store.events.recent(kinds=(RESCUED,), limit=1):
        told = rescue_of(event.data)
        if store.path.with_name(told.kept).exists():
            return (f"the database was damaged and mended on {event.at[:10]}; {told.kept} is the old one; {told.text}",)
    return ()


def _notes(repertoire: Repertoire) -> tuple[str, ...]:
    store = repertoire.store
    notes = [*repertoire.degraded, *_rescued(store)]
    if commons := trouble(repertoire.home):
        notes.append(commons)
    short = lacking(repertoire.home)
    if short:
        notes.append(f"{short}; {MEND}")
    if not store.graph.counts().get("components"):
        notes.append(NOTHING_KNOWN)
    return tuple(notes)
