"""Holds the components of one store as arrays for ranking, cached until the revision changes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from time import monotonic
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from repertoire.domain.answer import REQUEST_SPACE, Unit
from repertoire.domain.component import (
    BODY_INDEXED,
    CAPABILITY,
    CATALOGUE,
    DEPENDS_ON,
    HOOK,
    MCP_SERVER,
    OPTIONAL_WEIGHT,
    PACKAGE,
    PART_OF,
    PATTERN,
    PLUGIN,
    PROVIDES,
    TOOL,
    TWIN_OF,
    is_pointer,
)
from repertoire.domain.graph import COMPONENTS, HOME
from repertoire.ports import GraphReader, Summary, VectorReader, Vectors
from repertoire.retrieval.arrays import Arrays, Floats, Mask, Rows, Space, places_among
from repertoire.retrieval.exact_copies import Copies
from repertoire.retrieval.installation_units import Units

SPACES = HOME.spaces_of(COMPONENTS)
# Component types that seldom serve a request themselves: components that use them do.
SELDOM = (TOOL, PACKAGE, MCP_SERVER, PLUGIN, HOOK)
_SURE_CAPABILITY = 0.5  # weight of a `provides` edge that is more than a mention in passing
_LONG = ("id", "source", "repository")  # columns of texts of any length
_SAMPLED = 200  # components of which the usual text length is computed
# Least time between reloads of vectors. While components are embedded every batch changes the revision, and to read 30
# MB again for each query would slow all of them.
_RELOAD_SECONDS = 2.0


class Provisions(NamedTuple):
    """Who provides which capability, one entry for each edge, in the order of the providers."""

    rows: Rows  # -1 where the provider is not ranked, as a pattern is not
    capabilities: Rows  # topology positions
    certainty: Floats  # 1 at most

    def entries(self) -> Iterator[tuple[int, int, float]]:
        """Iterate over row, capability and certainty of each entry."""
        return zip(self.rows.tolist(), self.capabilities.tolist(), self.certainty.tolist(), strict=True)


@dataclass(frozen=True)
class Snapshot(Arrays):
    """The data for ranking components, at one revision; a component's row is its position in `summaries`."""

    summaries: tuple[Summary, ...] = ()
    length: float = 0.0  # median length of a component's searched text in characters
    patterns: Mapping[int, Mapping[str, Any]] = field(default_factory=dict)  # stored data of patterns by node id

    def __len__(self) -> int:
        return len(self.summaries)

    @cached_property
    def node_ids(self) -> Rows:
        """The node id of every row, in ascending order."""
        return np.fromiter((summary.node_id for summary in self.summaries), dtype=np.int64, count=len(self))

    def row_of(self, key: str) -> int:
        """Return the row of a component, of its copy where it was removed; -1 where no row has this id."""
        return super().row_of(self.topology.moved.get(key, key))

    def keys_of(self, names: Collection[str]) -> list[str]:
        """Return these names as ids, with the ids of the components that have these names."""
        wanted = set(names)
        return sorted({summary.id for summary in self.summaries if summary.name in wanted} | wanted)

    @cached_property
    def priors(self) -> Floats:
        """Two priors of every row: whether its type seldom serves requests, and the log of its name's frequency."""
        kinds, names = self.column("type"), [summary.name.lower() for summary in self.summaries]
        rare = (np.isin(kinds, SELDOM) | self.pointers) if len(set(kinds.tolist())) > 1 else np.zeros(len(self))
        times = Counter(names)
        count = np.fromiter((times[name] for name in names), dtype=np.float64, count=len(names))
        return np.stack([rare.astype(np.float64), np.log(count)]) if names else np.zeros((2, 0))

    @cached_property
    def inside(self) -> tuple[Rows, Rows]:
        """The rows of tools that are part of another component, and the row of that component for each."""
        among = self.related(PART_OF)
        source, target = self.row_at[self.topology.source[among]], self.row_at[self.topology.target[among]]
        both = (source >= 0) & (target >= 0)
        source, target = source[both], target[both]
        tools = self.column("type")[source] == TOOL if len(source) else np.zeros(0, dtype=np.bool_)
        return source[tools], target[tools]

    @cached_property
    def provisions(self) -> Provisions:
        """Which rows, and other nodes, provide which capabilities."""
        topology = self.topology
        ends = np.fromiter((kind == CAPABILITY for kind in topology.types), np.bool_, len(topology.types))
        among = self.related(PROVIDES) & ends[topology.target]
        certainty = np.minimum(topology.weight[among].astype(np.float64), 1.0)
        return Provisions(self.row_at[topology.source[among]], topology.target[among], certainty)

    @cached_property
    def copies(self) -> Copies:
        """The groups of exact copies among the rows."""
        return Copies(self.summaries)

    @cached_property
    def units(self) -> Units:
        """The units that rows are installed with."""
        return Units(self.summaries)

    @cached_property
    def _needed(self) -> Mapping[int, Sequence[int]]:
        found: dict[int, list[int]] = {}
        for source, target, weight in self.weighted_edges(DEPENDS_ON):
            if weight > OPTIONAL_WEIGHT:
                found.setdefault(source, []).append(target)
        return found

    @cached_property
    def _servers_here(self) -> frozenset[str]:
        return frozenset(one.name for one in self.summaries if one.installed and one.type == MCP_SERVER)

    def unit_of(self, row: int) -> Unit | None:
        """Return the unit that a row is installed with and the servers that it needs of it; None if there is none."""
        unit = self.units.of(row)
        needed = self._needed.get(int(self.positions[row]), ()) if unit is not None else ()
        rows = [int(self.row_at[end]) for end in needed if self.row_at[end] >= 0]
        servers = {self.summaries[other].name for other in rows if self.summaries[other].type == MCP_SERVER}
        if unit is None or not servers:
            return unit
        return replace(unit, servers=tuple(sorted(servers - self._servers_here)))

    @cached_property
    def foreign(self) -> Mask:
        """The mask of rows that belong to another client than Claude Code."""
        return np.asarray(self.column("client") != "") if len(self) else np.zeros(0, dtype=np.bool_)

    @cached_property
    def changed(self) -> npt.NDArray[np.str_]:
        """The date of every row's last change, the newest of its copies; empty where it is unknown."""
        return self.copies.newest(self.column("last_commit"))

    @cached_property
    def inner_tools(self) -> Mask:
        """The mask of tools that are part of another component, which is ranked in their place."""
        inner = np.zeros(len(self), dtype=np.bool_)
        inner[self.inside[0]] = True
        return inner

    @cached_property
    def mostly_tools(self) -> bool:
        """Whether most of what is ranked are single tools: functions of an API rather than skills or agents."""
        ranked = ~self.inner_tools
        return 2 * int((ranked & (self.column("type") == TOOL)).sum()) > int(ranked.sum())

    @cached_property
    def own_servers(self) -> tuple[tuple[str, str], ...]:
        """The name and the source of each installed MCP server that belongs to no plugin."""
        here = np.flatnonzero(self.column("installed") & (self.column("type") == MCP_SERVER)).tolist()
        return tuple((one.name, one.source) for row in here if not (one := self.summaries[row]).plugin)

    @cached_property
    def own(self) -> Mask:
        """The mask of a person's own components: installed by themselves, not with a plugin."""
        own = (summary.installed and not summary.plugin for summary in self.summaries)
        return np.fromiter(own, dtype=np.bool_, count=len(self))

    @cached_property
    def pointers(self) -> Mask:
        """The mask of pointers: components that a list of links names and whose own text was not read."""
        return np.fromiter((is_pointer(summary.id) for summary in self.summaries), dtype=np.bool_, count=len(self))

    @cached_property
    def redundant_pointers(self) -> Mask:
        """The mask of pointers to a repository or component that is a row itself."""
        if not self.pointers.any():
            return self.pointers
        real = [row for row, leads in zip(self.summaries, self.pointers, strict=True) if not leads]
        read = {row.repository for row in real if row.repository and row.source != CATALOGUE}
        known = {(row.repository, row.name.lower()) for row in real if row.repository}
        doubled = (
            leads and (row.repository in read or (row.repository, row.name.lower()) in known)
            for row, leads in zip(self.summaries, self.pointers, strict=True)
        )
        return np.fromiter(doubled, dtype=np.bool_, count=len(self))

    def warm(self) -> None:
        """Compute the cached properties that every question needs, except for the walk."""
        _ = self.priors, self.position_of, self.edges(PROVIDES), self.edges(DEPENDS_ON)
        _ = self.provisions, self.inner_tools, self.mostly_tools, self.redundant_pointers, self.copies

    def same_as(self, ids: Collection[str]) -> frozenset[str]:
        """Return these ids with the ids of their exact copies and twins."""
        rows = np.array([row for component_id in ids if (row := self.row_of(component_id)) >= 0], dtype=np.int64)
        if not len(rows):
            return frozenset(ids)
        at, among = self.positions[rows], self.related(TWIN_OF)
        source, target = self.topology.source[among], self.topology.target[among]
        twins = np.concatenate([target[np.isin(source, at)], source[np.isin(target, at)]])
        found = {*rows.tolist(), *(row for row in self.row_at[twins].tolist() if row >= 0)}
        return frozenset((*ids, *(self.summaries[copy].id for row in found for copy in (row, *self.copies.of(row)))))

    def provided(self, capabilities: Sequence[str]) -> Mask:
        """Return the mask of rows that surely provide any of these capabilities."""
        known = self.provisions
        ends = [at for name in capabilities if (at := self.position_of.get(f"{CAPABILITY}:{name}")) is not None]
        rows = known.rows[(known.certainty >= _SURE_CAPABILITY) & np.isin(known.capabilities, ends)]
        found = np.zeros(len(self), dtype=np.bool_)
        found[rows[rows >= 0]] = True
        return found

    def column(self, field: str) -> npt.NDArray[Any]:
        """Return one field of all summaries, in row order."""
        if field not in self._columns:
            # A numpy text array gives each row the length of the longest text: 100 MB of ids for 100,000 components.
            kind = object if field in _LONG else None
            self._columns[field] = np.array([getattr(summary, field) for summary in self.summaries], dtype=kind)
        return self._columns[field]

    @cached_property
    def _columns(self) -> dict[str, npt.NDArray[Any]]:
        """The cached results of `column`, by field."""
        return {}


class Snapshots:
    """Caches the newest snapshot of one store for one embedding model."""

    def __init__(
        self,
        graph: GraphReader,
        vectors: VectorReader,
        *,
        model: str,
        query_encoder: str = "",
        clock: Callable[[], float] = monotonic,
    ) -> None:
        """Begin without a snapshot; `query_encoder` names the query encoder, if it differs from the model."""
        self._graph = graph
        self._vectors = vectors
        self._models = dict.fromkeys(SPACES, model) | {REQUEST_SPACE: query_encoder or model}
        self._clock = clock
        self._kept: Snapshot | None = None
        self._revisions: Mapping[str, tuple[int, int]] = {}
        self._matrices: dict[str, tuple[Rows, Vectors]] = {}
        self._loaded_at = 0.0

    def current(self, *, stale: bool = False) -> Snapshot:
        """Return the snapshot of the store's present revision, or with `stale` the cached one if there is one."""
        kept = self._kept
        if stale and kept is not None:
            return kept
        if kept is not None and kept.revision == self._graph.revision(COMPONENTS):
            moved = self._vectors.revisions(SPACES) != self._revisions
            if not moved or self._clock() - self._loaded_at < _RELOAD_SECONDS:
                return kept
            self._kept = kept.with_spaces(self._spaces(kept))
        else:
            self._kept = self._load()
        return self._kept

    @property
    def kept(self) -> Snapshot | None:
        """The cached snapshot; None before the first question."""
        return self._kept

    def _load(self) -> Snapshot:
        topology = self._graph.topology(COMPONENTS)
        present = frozenset(topology.ids.tolist())
        # A node that was added between the two reads waits for the next revision.
        summaries = tuple(summary for summary in self._graph.summaries() if summary.node_id in present)
        snapshot = Snapshot(topology.revision, topology, {}, summaries)
        length, patterns = self._usual_length(summaries), self._graph.data(PATTERN)
        return replace(snapshot, spaces=self._spaces(snapshot), length=length, patterns=patterns)

    def _spaces(self, snapshot: Snapshot) -> Mapping[str, Space]:
        self._loaded_at = self._clock()
        revisions = self._vectors.revisions(SPACES)
        for space, model in self._models.items():  # a new request must not reload the other spaces, up to 300 MB
            if self._revisions.get(space) != revisions[space]:
                self._matrices[space] = self._vectors.matrix(space, model)
        self._revisions = revisions
        return {space: _space(snapshot, space, *matrix) for space, matrix in self._matrices.items()}

    def _usual_length(self, summaries: Sequence[Summary]) -> float:
        sample = summaries[:: max(1, len(summaries) // _SAMPLED)]
        found = self._graph.components(summary.node_id for summary in sample).values()
        lengths = sorted(len(entry.component.description + entry.component.body[:BODY_INDEXED]) for entry in found)
        half = len(lengths) // 2  # numpy's median imports its masked arrays, which takes as long as a walk
        return (lengths[half] + lengths[~half]) / 2.0 if lengths else 0.0


def _space(snapshot: Snapshot, space: str, node_ids: Rows, vectors: Vectors) -> Space:
    ids = snapshot.topology.ids if space == REQUEST_SPACE else snapshot.node_ids  # a request is no row
    rows, known = places_among(ids, node_ids)
    if known.all():
        return Space(rows, vectors)
    return Space(rows[known], vectors[known])
