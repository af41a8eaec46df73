"""Scores rows by personalised PageRank from the best rows, and finds the paths along which rank flowed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from repertoire.domain.component import CAPABILITY, REQUEST
from repertoire.retrieval.arrays import Arrays, Floats, Rows, best_rows
from repertoire.retrieval.ppr import BACKEND, Ranks

SEEDS = 50  # best rows that the walk starts from
_TOLERANCE = 1e-4  # power iteration (small graphs) ends when the ranks change by less than this in all
_PUSHED = 3e-5  # forward push (larger graphs) leaves residues below this: a third of _FLOOR; less changed no answer
_FLOOR = 1e-4  # rank below which a score is 0, as noise
_PAGERANK_WEIGHT = 1.5  # weight of a rank's logarithm where a person names components in use
# Factor on _PAGERANK_WEIGHT otherwise: most edges are mentions in texts, which say little about a component's job.
_NAME_EDGE_WEIGHT = 0.33

# Damping factors for a task of several clauses and for a simple question, measured on the labelled sets. Components for
# several clauses lie several steps apart (0.05 less costs two points of C@5); a simple answer lies near the seeds.
_COMPOUND, _SIMPLE = 0.85, 0.7
_DAMPING_CUT_BY_PAST = 0.5  # reduction of the damping factor, times the squared trust in past requests

_PAST_SHARE_OF_START = 0.5  # share of the restart for components that served similar past requests
_PAST_TRUST_THRESHOLD = 0.3  # trust in past requests from which on they have that share
# Share of the restart for capabilities: a larger one cost places on sealtools, without one synonyms have no effect.
_CAPABILITY_SHARE_OF_START = 0.1

_STEPS = 3  # edges of a path at most
_BRANCHES = 4  # edges into a node that are followed back
_PATH_SHARE_THRESHOLD = 0.02  # share of a row's rank that a shown path carries at least


class Served(Protocol):
    """The evidence of similar past requests that a walk needs: shares by row, and the trust in them, 0 to 1."""

    @property
    def share(self) -> Floats:
        """The share of each row among the components that served similar requests."""

    @property
    def trust(self) -> float:
        """The trust in these shares, 0 to 1."""


@dataclass(frozen=True)
class WalkStart:
    """Further starting points of a walk, beside the best rows."""

    capabilities: Sequence[str] = ()
    using: Sequence[str] = ()  # ids or names of components that a person says are in use
    past: Served | None = None
    compound: bool = True  # whether the task has several clauses


@dataclass(frozen=True)
class Walk:
    """The result of a walk: ranks by row (`ranks`) and by topology position (`flow`), and the starting rows."""

    arrays: Arrays
    ranks: Floats
    seeds: Rows
    flow: Floats
    weight: float = 0.0  # factor on the logarithm of a rank

    @property
    def score(self) -> Floats:
        """The log-odds that the walk adds to each row; 0 for ranks below `_FLOOR`."""
        return np.asarray(self.weight * np.log(np.maximum(self.ranks, _FLOOR) / _FLOOR))

    @classmethod
    def nowhere(cls, arrays: Arrays) -> Walk:
        """Return the result without a walk: all ranks 0."""
        nothing = np.zeros(0, dtype=np.int64)
        return cls(arrays, np.zeros(len(arrays)), nothing, np.zeros(len(arrays.topology.ids)))

    def path_to(self, row: int) -> list[str]:
        """Return the node names of the path that carried most rank from a seed to a row, without the row itself.

        It is empty for a seed, and where no path of `_STEPS` steps carried enough rank.
        """
        if self.ranks[row] <= 0.0 or row in self.seeds:
            return []
        arrays = self.arrays
        seeds = {int(position) for position in arrays.positions[self.seeds]}
        ways = [(1.0, [int(arrays.positions[row])])]
        for _ in range(_STEPS):
            ways = sorted((longer for way in ways for longer in self._back(*way)), reverse=True)[: _BRANCHES**2]
            for _, way in ways:
                if way[0] in seeds:
                    return [arrays.topology.names[position] for position in way[:-1]]
        return []

    def _back(self, share: float, way: list[int]) -> list[tuple[float, list[int]]]:
        """Return the path extended backwards by one node, for each node that sent enough rank along it."""
        types = self.arrays.topology.types
        sources, probability = self.arrays.graph.entering(way[0])
        sent = self.flow[sources] * probability
        most = np.argsort(-sent, kind="stable")[:_BRANCHES]
        total = float(sent.sum())
        return [
            (carried, [source, *way])
            for source, part in zip(sources[most].tolist(), sent[most].tolist(), strict=True)
            # Requests are private words and no reason to show, and a cycle adds nothing.
            if total > 0.0 and source not in way and types[source] != REQUEST
            if (carried := share * part / total) >= _PATH_SHARE_THRESHOLD
        ]


def warm(arrays: Arrays) -> None:
    """Import NetworkX and compute the graph's cached arrays now, so that no question waits for them."""
    import networkx as nx  # noqa: PLC0415, F401 - see walk

    arrays.graph.warm()


def walk(arrays: Arrays, scores: Floats, start: WalkStart | None = None) -> Walk:
    """Run personalised PageRank from the best rows, weighted by likelihood, and from the points in `start`."""
    import networkx as nx  # noqa: PLC0415 - 80 ms that an idle server does not pay

    if not len(arrays.topology.source):
        return Walk.nowhere(arrays)
    start = start or WalkStart()
    seeds = best_rows(scores, SEEDS)
    likely = np.exp(scores[seeds] - scores[seeds].max(initial=-np.inf))
    ranks = nx.pagerank(
        arrays.graph,
        alpha=damping(start),
        personalization=_personalization(arrays, seeds, likely, start),
        tol=_TOLERANCE / max(len(arrays.graph), 1),
        floor=_PUSHED,
        backend=BACKEND,
    )
    if not isinstance(ranks, Ranks):
        return Walk.nowhere(arrays)
    known = bool(_positions_in_use(arrays, start.using))
    weight = _PAGERANK_WEIGHT if known or not len(seeds) else _NAME_EDGE_WEIGHT * _PAGERANK_WEIGHT
    return Walk(arrays, ranks.every[arrays.positions], seeds, ranks.every, weight)


def damping(start: WalkStart) -> float:
    """Return the damping factor: higher for a task of several clauses, lower with trusted past requests."""
    trust = start.past.trust if start.past is not None else 0.0
    return (_COMPOUND if start.compound else _SIMPLE) - _DAMPING_CUT_BY_PAST * trust * trust


def _personalization(arrays: Arrays, seeds: Rows, likely: Floats, start: WalkStart) -> dict[int, float]:
    """Return the restart weight of each topology position."""
    total = float(likely.sum()) or 1.0
    begun = dict(zip(arrays.positions[seeds].tolist(), (likely / total).tolist(), strict=True))
    if start.past is not None:
        begun = _mixed(
            begun,
            _past_weights(arrays, start.past),
            _PAST_SHARE_OF_START * min(1.0, start.past.trust / _PAST_TRUST_THRESHOLD) ** 2,
        )
    begun = _mixed(begun, _capability_weights(arrays, start.capabilities), _CAPABILITY_SHARE_OF_START)
    for position in _positions_in_use(arrays, start.using):
        begun[position] = max(begun.values(), default=1.0)
    return begun


def _mixed(begun: dict[int, float], more: dict[int, float], share: float) -> dict[int, float]:
    """Mix a share of the second restart distribution into the first; if one is empty, return the other."""
    total = sum(more.values())
    if total <= 0.0 or share <= 0.0:
        return begun
    own = 1.0 - share if begun else 0.0
    mixed = {position: own * weight for position, weight in begun.items()}
    for position, weight in more.items():
        mixed[position] = mixed.get(position, 0.0) + (1.0 - own) * weight / total
    return mixed


def _past_weights(arrays: Arrays, past: Served) -> dict[int, float]:
    rows = np.flatnonzero(past.share)
    return dict(zip(arrays.positions[rows].tolist(), past.share[rows].tolist(), strict=True))


def _capability_weights(arrays: Arrays, capabilities: Sequence[str]) -> dict[int, float]:
    """Return restart weights of the named capabilities, larger if fewer components provide them."""
    keys = (f"{CAPABILITY}:{name}" for name in capabilities)
    places = [place for key in keys if (place := arrays.position_of.get(key)) is not None]
    return {place: 1.0 / max(len(arrays.graph.entering(place)[0]), 1) for place in places}


def _positions_in_use(arrays: Arrays, using: Sequence[str]) -> list[int]:
    if not using:
        return []
    return [place for key in arrays.keys_of(using) if (place := arrays.position_of.get(key)) is not None]
