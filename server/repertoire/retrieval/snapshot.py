"""The graph as ranking sees it: summaries, vectors and edges as arrays, kept until the store's revision moves."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from time import monotonic
from typing import Any

import numpy as np
import numpy.typing as npt

from repertoire.domain.answer import REQUEST_SPACE
from repertoire.domain.component import (
    BODY_INDEXED,
    CAPABILITY,
    DEPENDS_ON,
    HOOK,
    MCP_SERVER,
    PACKAGE,
    PART_OF,
    PATTERN,
    PLUGIN,
    PROVIDES,
    TOOL,
    TWIN_OF,
    is_pointer,
)
from repertoire.domain.graph import COMPONENTS, HOME, NODE_KINDS
from repertoire.ports import GraphReader, Summary, Topology, VectorReader, Vectors
from repertoire.retrieval.exact_copies import Copies
from repertoire.retrieval.ppr import CsrGraph
from repertoire.retrieval.units import Units

Floats = npt.NDArray[np.float64]
Rows = npt.NDArray[np.int64]
Mask = npt.NDArray[np.bool_]

SPACES = HOME.spaces_of(COMPONENTS)
# A request is seldom served by a manifest, a tool inside a server or a package: by what uses them.
SELDOM = (TOOL, PACKAGE, MCP_SERVER, PLUGIN, HOOK)
CATALOGUE = "catalogue"  # the key of the source that tells of a few components of a repository, not of all
SURE_CAPABILITY = 0.5  # how sure a component provides what it does not merely mention in passing
_INDIRECT = 0.1
_PASSED = frozenset(kind.name for kind in NODE_KINDS if COMPONENTS in kind.views and kind.walked)
_SAMPLED = 200
# While vectors stream in, every batch moves their revision: reading 30 MB again for each query would slow them all.
_RELOAD_SECONDS = 2.0


@dataclass(frozen=True)
class Space:
    """One vector space: `rows[i]` is the component (or, among requests, the node position) of `vectors[i]`."""

    rows: Rows
    vectors: Vectors


@dataclass(frozen=True)
class Snapshot:
    """Everything that ranking reads, at one revision. A component's row is its position in `summaries`."""

    revision: int
    summaries: tuple[Summary, ...]
    topology: Topology
    spaces: Mapping[str, Space]
    length: float = 0.0  # characters that a component's searched text usually has
    patterns: Mapping[int, Mapping[str, Any]] = field(default_factory=dict)  # what is kept with each, by node id

    def __len__(self) -> int:
        return len(self.summaries)

    @cached_property
    def node_ids(self) -> Rows:
        """The node id of every row, ascending."""
        return np.fromiter((summary.node_id for summary in self.summaries), dtype=np.int64, count=len(self))

    @cached_property
    def positions(self) -> Rows:
        """The position in the topology of every row."""
        return np.searchsorted(self.topology.ids, self.node_ids)

    @cached_property
    def row_at(self) -> Rows:
        """The row of every position in the topology; -1 where the node is no component."""
        rows = np.full(len(self.topology.ids), -1, dtype=np.int64)
        rows[self.positions] = np.arange(len(self))
        return rows

    @cached_property
    def position_of(self) -> dict[str, int]:
        """The position in the topology of every node key."""
        return {key: position for position, key in enumerate(self.topology.keys)}

    def row_of(self, key: str) -> int:
        """Return the row of a component; -1 where there is none of this id."""
        position = self.position_of.get(key)
        return -1 if position is None else int(self.row_at[position])

    @cached_property
    def graph(self) -> CsrGraph:
        """The walkable graph over positions: every edge can be walked both ways."""
        walked = self._walked
        source, target = self.topology.source[walked], self.topology.target[walked]
        weight = (self.topology.weight.astype(np.float64) * self._directness)[walked]
        return CsrGraph(
            range(len(self.topology.ids)),
            np.concatenate([source, target]),
            np.concatenate([target, source]),
            np.concatenate([weight, weight]),
        )

    @cached_property
    def _walked(self) -> Mask:
        """The edges that vouch: no conflict, and no copy, pattern or past request: the same would count twice."""
        rows = {name: HOME.related(name) for name in self._relations[0]}
        followed = [name for name, row in rows.items() if row is not None and row.walked]
        passed = np.array([kind in _PASSED for kind in self.topology.types], dtype=np.bool_)
        return np.asarray(passed[self.topology.source] & passed[self.topology.target] & self.related(*followed))

    @cached_property
    def _directness(self) -> Floats:
        """How far each edge counts: fully between components, little by way of what many components share."""
        source, target = self.topology.source, self.topology.target
        shared = self.row_at < 0
        degree = sum(np.bincount(ends[self._walked], minlength=len(shared)) for ends in (source, target))
        by_way = np.where(shared, _INDIRECT / np.maximum(degree, 1), 1.0)
        return np.asarray(np.minimum(by_way[source], by_way[target]))

    @cached_property
    def priors(self) -> Floats:
        """What is known of every row without a question: a kind that seldom answers, and how many carry its name."""
        kinds, names = self.column("type"), [summary.name.lower() for summary in self.summaries]
        rare = (np.isin(kinds, SELDOM) | self.pointers) if len(set(kinds.tolist())) > 1 else np.zeros(len(self))
        times = Counter(names)
        count = np.fromiter((times[name] for name in names), dtype=np.float64, count=len(names))
        return np.stack([rare.astype(np.float64), np.log(count)]) if names else np.zeros((2, 0))

    @cached_property
    def inside(self) -> tuple[Rows, Rows]:
        """The rows of tools inside another component, and of what each is inside of: that is installed and named."""
        among = self.related(PART_OF)
        source, target = self.row_at[self.topology.source[among]], self.row_at[self.topology.target[among]]
        both = (source >= 0) & (target >= 0)
        source, target = source[both], target[both]
        tools = self.column("type")[source] == TOOL if len(source) else np.zeros(0, dtype=np.bool_)
        return source[tools], target[tools]

    @cached_property
    def copies(self) -> Copies:
        """Which rows are exact copies of each other."""
        return Copies(self.summaries)

    @cached_property
    def units(self) -> Units:
        """What is installed together with every row."""
        return Units(self.summaries)

    @cached_property
    def foreign(self) -> Mask:
        """Which rows another client than Claude Code reads."""
        return np.asarray(self.column("client") != "") if len(self) else np.zeros(0, dtype=np.bool_)

    @cached_property
    def changed(self) -> npt.NDArray[np.str_]:
        """The day on which every row was last changed, as far as the source of any copy tells; empty: none does."""
        return self.copies.newest(self.column("last_commit"))

    @cached_property
    def inner(self) -> Mask:
        """Which rows are tools inside another component, which stands for them."""
        inner = np.zeros(len(self), dtype=np.bool_)
        inner[self.inside[0]] = True
        return inner

    @cached_property
    def pointers(self) -> Mask:
        """Which rows are lines of a list, that lead to what lies elsewhere and was not read."""
        return np.fromiter((is_pointer(summary.id) for summary in self.summaries), dtype=np.bool_, count=len(self))

    @cached_property
    def doubled(self) -> Mask:
        """Which rows lead to what was read itself: to a repository that is a source, or a component that is known."""
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
        """Prepare the first question now, except for its walk."""
        _ = self.priors, self.position_of, self.edges(PROVIDES), self.edges(DEPENDS_ON)
        _ = self.inner, self.doubled, self.copies

    def edges(self, relation: str) -> dict[int, tuple[int, ...]]:
        """Return where the edges of one relation lead, by the position they leave."""
        if relation not in self._edges:
            among = self.related(relation)
            sources, begins = np.unique(self.topology.source[among], return_index=True)
            targets = self.topology.target[among].tolist()
            ends = [*begins.tolist(), len(targets)][1:]
            self._edges[relation] = {
                source: tuple(targets[begin:end])
                for source, begin, end in zip(sources.tolist(), begins.tolist(), ends, strict=True)
            }
        return self._edges[relation]

    @cached_property
    def _edges(self) -> dict[str, dict[int, tuple[int, ...]]]:
        """What `edges` has worked out so far."""
        return {}

    def same_as(self, ids: Collection[str]) -> frozenset[str]:
        """Return these ids with those of all that says the same: exact copies and twins."""
        rows = np.array([row for one in ids if (row := self.row_of(one)) >= 0], dtype=np.int64)
        if not len(rows):
            return frozenset(ids)
        at, among = self.positions[rows], self.related(TWIN_OF)
        source, target = self.topology.source[among], self.topology.target[among]
        twins = np.concatenate([target[np.isin(source, at)], source[np.isin(target, at)]])
        found = {*rows.tolist(), *(row for row in self.row_at[twins].tolist() if row >= 0)}
        return frozenset((*ids, *(self.summaries[copy].id for row in found for copy in (row, *self.copies.of(row)))))

    def provided(self, capabilities: Sequence[str]) -> Mask:
        """Return which rows surely provide one of these capabilities."""
        topology = self.topology
        ends = [at for name in capabilities if (at := self.position_of.get(f"{CAPABILITY}:{name}")) is not None]
        among = self.related(PROVIDES) & (topology.weight >= SURE_CAPABILITY) & np.isin(topology.target, ends)
        rows = self.row_at[topology.source[among]]
        found = np.zeros(len(self), dtype=np.bool_)
        found[rows[rows >= 0]] = True
        return found

    def related(self, *relations: str) -> Mask:
        """Return which edges are of one of these relations."""
        names, codes = self._relations
        return np.isin(codes, [code for code, name in enumerate(names) if name in relations])

    @cached_property
    def _relations(self) -> tuple[tuple[str, ...], Rows]:
        """The names of all relations, and for every edge the place of its own among them."""
        place = {name: code for code, name in enumerate(dict.fromkeys(self.topology.relation))}
        codes = np.fromiter((place[name] for name in self.topology.relation), np.int64, len(self.topology.relation))
        return tuple(place), codes

    def with_spaces(self, spaces: Mapping[str, Space]) -> Snapshot:
        """Return the same graph with other vectors, and with all that was worked out of the graph."""
        other = replace(self, spaces=spaces)
        other.__dict__.update({name: value for name, value in self.__dict__.items() if name not in other.__dict__})
        return other

    def column(self, field: str) -> npt.NDArray[Any]:
        """Return one field of all summaries, in row order."""
        if field not in self._columns:
            # As an array of text each row takes as much as the longest id: 100 MB for 100,000 components.
            kind = object if field == "id" else None
            self._columns[field] = np.array([getattr(summary, field) for summary in self.summaries], dtype=kind)
        return self._columns[field]

    @cached_property
    def _columns(self) -> dict[str, npt.NDArray[Any]]:
        """What `column` was asked for so far."""
        return {}

    def rows_of(self, node_ids: Rows) -> tuple[Rows, Mask]:
        """Return the rows of node ids, and which of them are components at all."""
        rows = np.searchsorted(self.node_ids, node_ids)
        rows[rows == len(self)] = 0
        known = self.node_ids[rows] == node_ids if len(self) else np.zeros(len(node_ids), dtype=np.bool_)
        return rows, known


class Snapshots:
    """Keeps the newest snapshot of one store for one model."""

    def __init__(
        self,
        graph: GraphReader,
        vectors: VectorReader,
        *,
        model: str,
        reading: str = "",
        clock: Callable[[], float] = monotonic,
    ) -> None:
        """Keep nothing yet; `reading` names how the model reads what is asked, where not as what is searched."""
        self._graph = graph
        self._vectors = vectors
        self._models = dict.fromkeys(SPACES, model) | {REQUEST_SPACE: reading or model}
        self._clock = clock
        self._kept: Snapshot | None = None
        self._revisions: Mapping[str, tuple[int, int]] = {}
        self._matrices: dict[str, tuple[Rows, Vectors]] = {}
        self._loaded_at = 0.0

    def current(self, *, stale: bool = False) -> Snapshot:
        """Return the snapshot of the store's present revision, read anew only where it moved; where `stale`, any."""
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
        """The snapshot that was read last; None where no question has needed one."""
        return self._kept

    def _load(self) -> Snapshot:
        topology = self._graph.topology(COMPONENTS)
        present = frozenset(topology.ids.tolist())
        # A node that came between the two reads is left for the next revision.
        summaries = tuple(summary for summary in self._graph.summaries() if summary.node_id in present)
        snapshot = Snapshot(topology.revision, summaries, topology, {})
        length, patterns = self._usual_length(summaries), self._graph.data(PATTERN)
        return replace(snapshot, spaces=self._spaces(snapshot), length=length, patterns=patterns)

    def _spaces(self, snapshot: Snapshot) -> Mapping[str, Space]:
        self._loaded_at = self._clock()
        revisions = self._vectors.revisions(SPACES)
        for space, model in self._models.items():  # a request that is learned moves none of what may be 300 MB
            if self._revisions.get(space) != revisions[space]:
                self._matrices[space] = self._vectors.matrix(space, model)
        self._revisions = revisions
        return {space: _space(snapshot, space, *matrix) for space, matrix in self._matrices.items()}

    def _usual_length(self, summaries: Sequence[Summary]) -> float:
        sample = summaries[:: max(1, len(summaries) // _SAMPLED)]
        found = self._graph.components(summary.node_id for summary in sample).values()
        lengths = sorted(len(entry.component.description + entry.component.body[:BODY_INDEXED]) for entry in found)
        half = (
            len(lengths) // 2
        )  # numpy's own median, and a plain unique, import its masked arrays: that takes as long as a walk
        return (lengths[half] + lengths[~half]) / 2.0 if lengths else 0.0


def _space(snapshot: Snapshot, space: str, node_ids: Rows, vectors: Vectors) -> Space:
    if space == REQUEST_SPACE:
        ids = snapshot.topology.ids
        rows = np.searchsorted(ids, node_ids)
        rows[rows == len(ids)] = 0
        known = ids[rows] == node_ids if len(ids) else np.zeros(len(node_ids), dtype=np.bool_)
    else:
        rows, known = snapshot.rows_of(node_ids)
    if known.all():
        return Space(rows, vectors)
    return Space(rows[known], vectors[known])


def best_rows(scores: Floats, limit: int) -> Rows:
    """Return the rows of the highest finite scores, best first; equal ones in the order of their rows."""
    limit = min(limit, int(np.isfinite(scores).sum()))
    if limit == 0:
        return np.zeros(0, dtype=np.int64)
    head = np.argpartition(-scores, limit - 1)[:limit]
    best: Rows = head[np.lexsort((head, -scores[head]))]
    return best
