"""Selects the neighbourhood of components in the graph: the nodes of highest personalised PageRank, and their edges."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from repertoire.domain.component import MENTIONS, REQUEST
from repertoire.retrieval.arrays import Floats
from repertoire.retrieval.ppr import forward_push
from repertoire.retrieval.snapshot import Snapshot

NODES, EDGES = 40, 120
_OWN = 15  # direct neighbours that are kept whatever their PageRank, which is low for nodes that many share
_DAMPING = 0.7  # probability of each further step; distant nodes explain nothing
_FLOOR = 1e-6  # residual below which forward push stops
CHOSEN = 1.0  # restart share from which a node is part of the answer itself


@dataclass(frozen=True)
class NearbyNode:
    """A node of the neighbourhood; `weight` is its PageRank divided by the highest.

    `type` is a component's type, such as skill or agent, else the kind of the node.
    """

    key: str
    name: str
    type: str
    weight: float
    chosen: bool = False  # part of the answer itself


@dataclass(frozen=True)
class Tie:
    """An edge of the neighbourhood between two node keys."""

    source: str
    target: str
    relation: str
    weight: float


@dataclass(frozen=True)
class Neighbourhood:
    """The nodes by falling PageRank, and the edges among them, the strongest first."""

    nodes: tuple[NearbyNode, ...]
    edges: tuple[Tie, ...]


def neighbourhood(snapshot: Snapshot, start: Mapping[int, float]) -> Neighbourhood:
    """Return the graph around the start positions, without past requests, which hold private words."""
    if not start:
        return Neighbourhood((), ())
    topology = snapshot.topology
    restart = np.zeros(len(topology.ids))
    for position, share in start.items():
        restart[position] = share
    ranks = forward_push(snapshot.graph, restart / restart.sum(), alpha=_DAMPING, floor=_FLOOR)
    order = [int(position) for position in np.argsort(-ranks, kind="stable")[: 2 * NODES] if ranks[position] > 0.0]
    order = [*_direct_neighbours(snapshot, start), *order]
    kept = [position for position in dict.fromkeys(order) if topology.types[position] != REQUEST][:NODES]
    kept.sort(key=lambda position: (position != order[0], -ranks[position]))
    most = float(ranks[kept].max(initial=0.0)) or 1.0
    chosen = {position for position, share in start.items() if share >= CHOSEN}
    places = (
        NearbyNode(topology.keys[at], topology.names[at], _type(snapshot, at), float(ranks[at]) / most, at in chosen)
        for at in kept
    )
    return Neighbourhood(tuple(places), _ties(snapshot, kept, ranks))


def _type(snapshot: Snapshot, position: int) -> str:
    row = int(snapshot.row_at[position])
    return snapshot.summaries[row].type if row >= 0 else snapshot.topology.types[position]


def _direct_neighbours(snapshot: Snapshot, start: Mapping[int, float]) -> list[int]:
    """Return the position of the largest restart share and its strongest direct neighbours, without mentions."""
    topology = snapshot.topology
    own = max(start, key=start.__getitem__)
    edges = np.flatnonzero((topology.source == own) | (topology.target == own)).tolist()
    telling = sorted((edge for edge in edges if topology.relation[edge] != MENTIONS), key=lambda e: -topology.weight[e])
    return [own, *(int(topology.source[edge] + topology.target[edge] - own) for edge in telling[:_OWN])]


def _ties(snapshot: Snapshot, kept: list[int], ranks: Floats) -> tuple[Tie, ...]:
    topology = snapshot.topology
    inside = np.zeros(len(topology.ids), dtype=np.bool_)
    inside[kept] = True
    among = np.flatnonzero(inside[topology.source] & inside[topology.target])
    worth = topology.weight[among] * ranks[topology.source[among]] * ranks[topology.target[among]]
    strongest = among[np.argsort(-worth, kind="stable")[:EDGES]].tolist()
    return tuple(
        Tie(
            topology.keys[topology.source[edge]],
            topology.keys[topology.target[edge]],
            topology.relation[edge],
            round(float(topology.weight[edge]), 3),
        )
        for edge in strongest
    )
