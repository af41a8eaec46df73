"""The graph stage: seeds from the first hits, personalised PageRank from there, and the paths that explain it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from repertoire.retrieval.snapshot import Floats, Rows, Snapshot, best_rows

SEEDS = 50
DAMPING = 0.85
_TOLERANCE = 0.05  # of all rank: a smaller one changed no answer's order and took twice as long
_FLOOR = 1e-4  # ranks below it are noise
_WEIGHT = 1.5  # of a rank's logarithm


@dataclass(frozen=True)
class Walk:
    """Where the walk went: each row's rank, and the rows it set out from."""

    snapshot: Snapshot
    ranks: Floats
    seeds: Rows
    vouching: float = 1.0  # how far the ranks count

    @property
    def score(self) -> Floats:
        """What the walk adds to each row's log-odds: nothing where it hardly came."""
        return np.asarray(_WEIGHT * self.vouching * np.log(np.maximum(self.ranks, _FLOOR) / _FLOOR))

    @classmethod
    def nowhere(cls, snapshot: Snapshot) -> Walk:
        """Return the walk that was not taken."""
        return cls(snapshot, np.zeros(len(snapshot)), np.zeros(0, dtype=np.int64))

    def path_to(self, row: int) -> list[str]:
        """Return the names on the way from a seed to a row; empty for a seed, or where two steps do not lead there."""
        snapshot = self.snapshot
        if not len(self.seeds) or self.ranks[row] <= 0.0 or row in self.seeds:
            return []
        seeds = {int(position) for position in snapshot.positions[self.seeds]}
        names = snapshot.topology.names
        near = snapshot.graph.neighbours(int(snapshot.positions[row]))
        for position in near:
            if position in seeds:
                return [names[position]]
        for position in near:
            for end in snapshot.graph.neighbours(position):
                if end in seeds:
                    return [names[end], names[position]]
        return []


def walk(snapshot: Snapshot, scores: Floats, *, using: Sequence[str] = ()) -> Walk:
    """Walk from the most relevant rows, each as likely as its score makes it, and from what is already in use."""
    import networkx as nx  # noqa: PLC0415 - 80 ms that an idle server does not pay

    if not len(snapshot.topology.source):
        return Walk.nowhere(snapshot)
    seeds = best_rows(scores, SEEDS)
    likely = np.exp(scores[seeds] - scores[seeds].max(initial=-np.inf))
    start = dict(zip(snapshot.positions[seeds].tolist(), likely.tolist(), strict=True))
    for position in _positions(snapshot, using):
        start[position] = 1.0
    size = len(snapshot.topology.ids)
    ranks = nx.pagerank(snapshot.graph, alpha=DAMPING, personalization=start, tol=_TOLERANCE / max(size, 1))
    if not ranks:
        return Walk.nowhere(snapshot)
    every = np.fromiter(ranks.values(), dtype=np.float64, count=size)
    # One weight for all rows: a row that is used much must not outrank better ones for that alone.
    vouching = 1.0 if using or not len(seeds) else float(likely @ snapshot.vouching[seeds] / likely.sum())
    return Walk(snapshot, every[snapshot.positions], seeds, vouching)


def _positions(snapshot: Snapshot, using: Sequence[str]) -> list[int]:
    if not using:
        return []
    wanted = set(using)
    names = {summary.id for summary in snapshot.summaries if summary.name in wanted} | wanted
    return [position for key in sorted(names) if (position := snapshot.position_of.get(key)) is not None]
