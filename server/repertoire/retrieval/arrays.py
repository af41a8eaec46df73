"""Holds one view of a graph as arrays: nodes, ranked rows, edges and vectors.

A row is a node that the view ranks (a component, trace, section or note); only a subclass knows which of these it is.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TypeVar

import numpy as np
import numpy.typing as npt
from typing_extensions import Self

from repertoire.domain.graph import COMPONENTS, HOME
from repertoire.ports import Topology, Vectors
from repertoire.retrieval.ppr import CsrGraph

Floats = npt.NDArray[np.float64]
Rows = npt.NDArray[np.int64]
Mask = npt.NDArray[np.bool_]
A = TypeVar("A", bound="Arrays")

_INDIRECT = 0.1  # factor on an edge to a node that is not ranked, such as a capability; divided by its degree


@dataclass(frozen=True)
class Space:
    """One vector space: `rows[i]` is the row (or, among requests, the node position) of `vectors[i]`."""

    rows: Rows
    vectors: Vectors

    def at(self, row: int) -> Vectors | None:
        """Return the vector of a row; None where it has none in this space."""
        place = int(np.searchsorted(self.rows, row))
        return np.asarray(self.vectors[place]) if place < len(self.rows) and self.rows[place] == row else None


@dataclass(frozen=True)
class Arrays:
    """The data of one view that ranking reads, at one revision; a row is a node that the view ranks."""

    revision: int
    topology: Topology
    spaces: Mapping[str, Space]

    layout = HOME
    view = COMPONENTS

    def __len__(self) -> int:
        return len(self.node_ids)

    @property
    @abstractmethod
    def node_ids(self) -> Rows:
        """The node id of every row, in ascending order."""

    @cached_property
    def positions(self) -> Rows:
        """The topology position of every row."""
        return np.searchsorted(self.topology.ids, self.node_ids)

    @cached_property
    def row_at(self) -> Rows:
        """The row at every topology position; -1 where the node is not ranked."""
        rows = np.full(len(self.topology.ids), -1, dtype=np.int64)
        rows[self.positions] = np.arange(len(self))
        return rows

    @cached_property
    def position_of(self) -> dict[str, int]:
        """The topology position by node key."""
        return {key: position for position, key in enumerate(self.topology.keys)}

    def row_of(self, key: str) -> int:
        """Return the row of a node key; -1 where no ranked node has this key."""
        position = self.position_of.get(key)
        return -1 if position is None else int(self.row_at[position])

    def keys_of(self, names: Collection[str]) -> list[str]:
        """Return the node keys that these names stand for; in this base class a name is a key."""
        return sorted(names)

    def rows_of(self, node_ids: Rows) -> tuple[Rows, Mask]:
        """Return the rows of node ids, and a mask of the ids that are ranked; other ids have no meaningful row."""
        return places_among(self.node_ids, node_ids)

    @cached_property
    def graph(self) -> CsrGraph:
        """The graph for random walks over topology positions, with every edge in both directions."""
        walked = self.walked
        source, target = self.topology.source[walked], self.topology.target[walked]
        weight = (self.topology.weight.astype(np.float64) * self.directness)[walked]
        return CsrGraph(
            range(len(self.topology.ids)),
            np.concatenate([source, target]),
            np.concatenate([target, source]),
            np.concatenate([weight, weight]),
        )

    @cached_property
    def walked(self) -> Mask:
        """The mask of edges that a walk may follow, as the layout's kinds and relations say."""
        rows = {name: self.layout.related(name) for name in self._relations[0]}
        followed = [name for name, row in rows.items() if row is not None and row.walked]
        kinds = {kind.name for kind in self.layout.kinds if self.view in kind.views and kind.walked}
        passed = np.array([kind in kinds for kind in self.topology.types], dtype=np.bool_)
        return np.asarray(passed[self.topology.source] & passed[self.topology.target] & self.related(*followed))

    @cached_property
    def directness(self) -> Floats:
        """The factor on each edge's weight: 1 between two rows, less to a node that many rows share."""
        source, target = self.topology.source, self.topology.target
        shared = self.row_at < 0
        degree = sum(np.bincount(ends[self.walked], minlength=len(shared)) for ends in (source, target))
        by_way = np.where(shared, _INDIRECT / np.maximum(degree, 1), 1.0)
        return np.asarray(np.minimum(by_way[source], by_way[target]))

    def edges(self, relation: str) -> dict[int, tuple[int, ...]]:
        """Return the target positions of one relation's edges, by source position."""
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
        """The cached results of `edges`, by relation."""
        return {}

    def weighted_edges(self, relation: str) -> Iterator[tuple[int, int, float]]:
        """Iterate over the source position, target position and weight of one relation's edges, in their order."""
        among, topology = self.related(relation), self.topology
        ends = topology.source[among].tolist(), topology.target[among].tolist()
        return zip(*ends, topology.weight[among].tolist(), strict=True)

    def related(self, *relations: str) -> Mask:
        """Return the mask of edges that have one of these relations."""
        names, codes = self._relations
        return np.isin(codes, [code for code, name in enumerate(names) if name in relations])

    @cached_property
    def _relations(self) -> tuple[tuple[str, ...], Rows]:
        """All relation names, and for every edge the index of its relation among them."""
        place = {name: code for code, name in enumerate(dict.fromkeys(self.topology.relation))}
        codes = np.fromiter((place[name] for name in self.topology.relation), np.int64, len(self.topology.relation))
        return tuple(place), codes

    def with_spaces(self, spaces: Mapping[str, Space]) -> Self:
        """Return a copy with other vectors that keeps all cached properties of the graph."""
        other = replace(self, spaces=spaces)
        other.__dict__.update({name: value for name, value in self.__dict__.items() if name not in other.__dict__})
        return other


def dot_products(vectors: Vectors, vector: Vectors) -> Vectors:
    """Return the dot product of each vector with one: their cosine, where all have the length 1."""
    # Not @: where BLAS has several threads it starts them for so small a product, and they wait 20 ms for each other.
    return np.asarray(np.einsum("ij,j->i", vectors, vector))


def places_among(ids: Rows, asked: Rows) -> tuple[Rows, Mask]:
    """Return the place of each id among ascending ids, and a mask of the ids that are there; else a place is void."""
    if not len(ids):
        return np.zeros(len(asked), dtype=np.int64), np.zeros(len(asked), dtype=np.bool_)
    places = np.searchsorted(ids, asked)
    places[places == len(ids)] = 0
    return places, ids[places] == asked


def best_rows(scores: Floats, limit: int) -> Rows:
    """Return the rows of the highest finite scores, best first; ties in the order of the rows."""
    rows = np.flatnonzero(np.isfinite(scores))
    found = scores[rows]
    if limit < len(rows):
        head = np.argpartition(-found, limit)[:limit]
        rows, found = rows[head], found[head]
    best: Rows = rows[np.lexsort((rows, -found))]
    return best[:limit]
