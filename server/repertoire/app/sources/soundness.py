"""Finds troubles of components outside their own text: lost sources, missing or doubtful dependencies, advisories."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from repertoire.app.clock import now, today
from repertoire.app.sources.unreachable import LostSource, lost_sources, newest_note
from repertoire.domain import soundness as kinds
from repertoire.domain.component import DEPENDS_ON, MCP_SERVER, PLUGIN
from repertoire.domain.freshness import Ageing, freshness
from repertoire.domain.soundness import GRAVE, Trouble, soundness
from repertoire.domain.trust import HIGH, rank
from repertoire.ports import Summary
from repertoire.retrieval.arrays import Floats
from repertoire.retrieval.priors import Prior
from repertoire.retrieval.snapshot import Snapshot
from repertoire.store.database import Store
from repertoire.store.soundness import Departure

if TYPE_CHECKING:
    from repertoire.app.sources.advisories import AdvisoryMatch

SOUNDNESS = "soundness"
_MAX_PENALTY = 0.25  # log-odds, half the bound of any prior, so that it only breaks ties
_NAMED = ("mcp_server:", "component:")  # prefixes of requirements that name a component
_LISTED = 6  # troubles that one component lists


def _nobody() -> frozenset[str]:
    return frozenset()


class Troubles:
    """A cache of the troubles of all components, renewed with each revision of the graph and each mute."""

    def __init__(
        self, store: Store, ageing: Ageing | None = None, *, unwanted: Callable[[], frozenset[str]] = _nobody
    ) -> None:
        """`unwanted` returns the ids of muted and harmful components."""
        self._store = store
        self._ageing = ageing
        self._unwanted = unwanted
        self._kept: Mapping[str, tuple[Trouble, ...]] = {}
        self._as_of: tuple[int, int, frozenset[str]] | None = None

    @property
    def prior(self) -> Prior:
        """The prior from troubles: 0 for a sound component, else a small penalty."""
        return Prior(SOUNDNESS, _MAX_PENALTY, self._values)

    def all(self) -> Mapping[str, tuple[Trouble, ...]]:
        """Return the troubles by component id, without sound components."""
        as_of = self._store.graph.revision(), newest_note(self._store), self._unwanted()
        if as_of != self._as_of:
            self._kept, self._as_of = self._find_troubles(as_of[-1]), as_of
        return self._kept

    def of(self, key: str) -> tuple[Trouble, ...]:
        """Return the troubles of one component, grave ones first."""
        return self.all().get(key, ())

    def said(self, key: str) -> tuple[str, ...]:
        """Return the texts of one component's troubles, grave ones first."""
        return self.said_of([key])[0]

    def said_of(self, keys: Sequence[str]) -> list[tuple[str, ...]]:
        """Return the texts of the troubles of each component, with one check for new data."""
        troubles = self.all()
        return [tuple(trouble.text for trouble in troubles.get(key, ())) for key in keys]

    def _values(self, snapshot: Snapshot) -> Floats:
        troubles = self.all()
        if not troubles:
            return np.zeros(len(snapshot))
        full = 1.0 - kinds.MIN_SOUNDNESS
        return np.array([(soundness(troubles.get(row.id, ())) - 1.0) / full for row in snapshot.summaries])

    def _find_troubles(self, unwanted: frozenset[str]) -> Mapping[str, tuple[Trouble, ...]]:
        store = self._store
        known = _KnownComponents.of(store.graph.summaries(), store.soundness.departed(), unwanted)
        found: dict[str, list[Trouble]] = defaultdict(list)
        for lost in lost_sources(store):
            trouble = _of_source(lost)
            for row in known.of_source.get(lost.source, ()):
                found[row.id].append(trouble)
        for source, target, name, *_ in store.graph.edges_of(DEPENDS_ON):
            if source in known.rows:
                found[known.rows[source].id] += self._dependency_troubles(known, target, name)
        for match in _advisory_matches(store):
            found[match.component].append(_advised(match))
        for key, trouble in _retired(known.rows.values(), store.soundness.retired()):
            found[key].append(trouble)
        return {key: _ordered(troubles) for key, troubles in found.items() if troubles}

    def _dependency_troubles(self, known: _KnownComponents, target: int, name: str) -> Iterator[Trouble]:
        """Yield the troubles of one dependency, by its node id, else by its name."""
        needed = known.rows.get(target) or known.named(name)
        if needed is None:
            gone = known.departure(name)
            if gone is not None:
                yield Trouble(kinds.GONE, f"its {_type(gone.type)} {gone.name} is gone from its source {gone.source}")
            return
        what = f"its {_type(needed.type)} {needed.name}"
        if needed.risk >= rank(HIGH):
            yield Trouble(kinds.FLAGGED, f"{what} was flagged by static checks: repertoire trust show")
        if needed.id in known.unwanted:
            yield Trouble(kinds.ADVISED, f"{what} is muted, or does harm in use")
        aged = freshness(needed.type, needed.last_commit, today(), ageing=self._ageing)
        if aged is not None and aged.stale:
            yield Trouble(kinds.STALE, f"{what} is stale: {aged.label}")


def _advisory_matches(store: Store) -> tuple[AdvisoryMatch, ...]:
    """Return the matches of stored advisories; most homes have none."""
    if not store.soundness.advisories():
        return ()
    from repertoire.app.sources.advisories import kept_advisories  # noqa: PLC0415 - comparing versions imports slowly

    return kept_advisories(store).matches


@dataclass(frozen=True)
class _KnownComponents:
    rows: Mapping[int, Summary]
    of_source: Mapping[str, list[Summary]]
    by_name: Mapping[tuple[bool, str], list[Summary]]
    gone: Mapping[tuple[bool, str], Departure]
    unwanted: frozenset[str]

    @classmethod
    def of(cls, rows: Iterable[Summary], departed: Iterable[Departure], unwanted: frozenset[str]) -> _KnownComponents:
        by_node: dict[int, Summary] = {}
        of_source: dict[str, list[Summary]] = defaultdict(list)
        by_name: dict[tuple[bool, str], list[Summary]] = defaultdict(list)
        for row in rows:
            by_node[row.node_id] = row
            of_source[row.source].append(row)
            by_name[row.type == MCP_SERVER, row.name.lower()].append(row)
        gone = {(item.type == MCP_SERVER, item.name.lower()): item for item in departed}
        return cls(by_node, of_source, by_name, gone, unwanted)

    def named(self, requirement: str) -> Summary | None:
        """Return the component that a requirement names; None unless exactly one has the name."""
        found = self._called(requirement)
        return found[0] if len(found) == 1 else None

    def departure(self, requirement: str) -> Departure | None:
        """Return the departure of the component that a requirement names; None if a component of that name exists."""
        kind, _, name = requirement.partition(":")
        if not requirement.startswith(_NAMED) or self._called(requirement):
            return None
        return self.gone.get((kind == MCP_SERVER, name.lower()))

    def _called(self, requirement: str) -> list[Summary]:
        kind, _, name = requirement.partition(":")
        return self.by_name.get((kind == MCP_SERVER, name.lower()), []) if requirement.startswith(_NAMED) else []


def note_departures(store: Store, before: Iterable[Summary]) -> None:
    """Record departures of components that others still require, and the return of departed ones."""
    rows = store.graph.summaries()
    here = {(row.type, row.name.lower()) for row in rows}
    store_says = store.soundness.departed()
    back = [item for item in store_says if (item.type, item.name.lower()) in here]
    if back:
        store.soundness.note_returned(back)
    left = {(row.type, row.name.lower()): row for row in before if (row.type, row.name.lower()) not in here}
    if not left:
        return
    needed = {name.lower() for _, _, name, *_ in store.graph.edges_of(DEPENDS_ON) if name.startswith(_NAMED)}
    gone = [
        Departure(row.type, row.name, row.source, now())
        for (kind, name), row in left.items()
        if (f"mcp_server:{name}" if kind == MCP_SERVER else f"component:{name}") in needed
    ]
    if gone:
        store.soundness.note_departed(gone)


def _of_source(lost: LostSource) -> Trouble:
    if lost.moved:
        return Trouble(kinds.MOVED, f"its source {lost.source} has moved to {lost.moved}: ingest it from there")
    text = f"its source {lost.source} could not be read since {lost.since[:10]}; its components date from before"
    return Trouble(kinds.LOST, text)


def _retired(rows: Iterable[Summary], said: frozenset[str]) -> Iterator[tuple[str, Trouble]]:
    """Yield each component that its author calls deprecated, and each part of a plugin that is called so."""
    if not said:
        return
    rows = list(rows)
    plugins = {(row.source, row.name) for row in rows if row.type == PLUGIN and row.id in said}
    for row in rows:
        if row.id in said:
            yield row.id, Trouble(kinds.RETIRED, "its author calls it deprecated")
        elif (row.source, row.plugin) in plugins and row.type != PLUGIN:
            yield row.id, Trouble(kinds.RETIRED, f"its plugin {row.plugin} is deprecated, its author says")


def _advised(match: AdvisoryMatch) -> Trouble:
    names = ", ".join([match.id, *match.aliases[:1]])
    if match.certainty == kinds.AFFECTED:
        mended = f"; fixed in {', '.join(match.fixed[:2])}" if match.fixed else ""
        return Trouble(kinds.AFFECTED, f"it requires {match.requirement}, which {names} concerns{mended}")
    allowed = (
        f"which allows {match.version}, and {names} concerns that" if match.version else f"and {names} concerns some"
    )
    return Trouble(kinds.POSSIBLE, f"it requires {match.requirement}, {allowed}")


def _ordered(troubles: list[Trouble]) -> tuple[Trouble, ...]:
    once = dict.fromkeys(troubles)
    return tuple(sorted(once, key=lambda trouble: trouble.kind not in GRAVE)[:_LISTED])


def _type(kind: str) -> str:
    return "MCP server" if kind == MCP_SERVER else kind.replace("_", " ")
