"""Computes personalised PageRank as a NetworkX backend: power iteration or forward push on a CSR matrix, in numpy.

NetworkX dispatches `nx.pagerank(CsrGraph(...))` to it, and converts for `nx.pagerank(graph, backend="repertoire")`.
NetworkX calls `get_info` while it is being imported, so this module must not import NetworkX at the top.

Power iteration touches every edge at each step; forward push (Andersen, Chung, Lang: Local Graph Partitioning using
PageRank Vectors, 2006) only those near the restart nodes, so that its cost does not grow with the graph.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    import networkx as nx

Floats = npt.NDArray[np.float64]
Positions = npt.NDArray[np.int64]

BACKEND = "repertoire"
EXACT_EDGES = 10_000  # edges up to which power iteration takes less than 2 ms


class CsrGraph:
    """A weighted directed graph as arrays; the weights of parallel edges add up."""

    __networkx_backend__: ClassVar[str] = BACKEND

    def __init__(
        self, nodes: Sequence[Hashable], source: Positions, target: Positions, weight: npt.NDArray[np.floating[Any]]
    ) -> None:
        """Keep the edges `source[i] → target[i]`, given as positions in `nodes`, in the order of their targets."""
        self.nodes = nodes
        order = np.argsort(target, kind="stable")
        self._source = np.ascontiguousarray(source[order])
        self._target = np.ascontiguousarray(target[order])
        self._weight = np.ascontiguousarray(weight[order], dtype=np.float64)

    def __len__(self) -> int:
        return len(self.nodes)

    def __iter__(self) -> Iterator[Hashable]:
        return iter(self.nodes)

    def is_directed(self) -> bool:
        """Return True: NetworkX asks whether edges have a direction."""
        return True

    def is_multigraph(self) -> bool:
        """Return False: to NetworkX parallel edges are one edge."""
        return False

    @cached_property
    def position(self) -> dict[Hashable, int]:
        """The row of every node."""
        return {node: row for row, node in enumerate(self.nodes)}

    @cached_property
    def _probability(self) -> Floats:
        """The probability of walking each edge from its source."""
        out = np.bincount(self._source, weights=self._weight, minlength=len(self))
        return np.asarray(self._weight / np.where(out > 0, out, 1.0)[self._source])

    @cached_property
    def dangling(self) -> npt.NDArray[np.bool_]:
        """The mask of nodes whose outgoing edges have no weight above 0."""
        return np.bincount(self._source, weights=self._weight, minlength=len(self)) <= 0

    @property
    def edges(self) -> int:
        """The number of edges, each parallel edge counted."""
        return len(self._source)

    def entering(self, row: int) -> tuple[Positions, Floats]:
        """Return the source rows of the edges into a row, and the probability of walking each edge."""
        start, end = np.searchsorted(self._target, [row, row + 1])
        return self._source[start:end], self._probability[start:end]

    @cached_property
    def _leaving(self) -> tuple[Positions, Positions, Positions, Floats]:
        """The edges by source: each row's offset and count, then the edges' targets and probabilities."""
        order = np.argsort(self._source, kind="stable")
        count = np.bincount(self._source, minlength=len(self)).astype(np.int64)
        return np.cumsum(count) - count, count, self._target[order], self._probability[order]

    def spread(self, rows: Positions, mass: Floats) -> Floats:
        """Return the mass that every row receives when these rows send their mass along their edges."""
        begins, counts, targets, probability = self._leaving
        count = counts[rows]
        ends = count.cumsum()
        edges = (begins[rows] - ends + count).repeat(count)
        edges += np.arange(len(edges))
        moved = mass.repeat(count) * probability[edges]
        arrived = np.bincount(targets[edges], weights=moved, minlength=len(self))
        return np.asarray(arrived, dtype=np.float64)

    def warm(self) -> None:
        """Compute the cached arrays now, so that no question waits for them."""
        _ = self._probability, self.dangling, self._leaving

    def step(self, ranks: Floats) -> Floats:
        """Return the ranks after every node sent its rank along its edges."""
        moved = np.bincount(self._target, weights=ranks[self._source] * self._probability, minlength=len(self))
        return np.asarray(moved, dtype=np.float64)  # without an edge, bincount counts in integers

    def unweighted(self) -> CsrGraph:
        """Return the same graph with a weight of 1 on every edge."""
        return CsrGraph(self.nodes, self._source, self._target, np.ones(len(self._source)))

    def to_networkx(self) -> nx.DiGraph:
        """Return the graph as a NetworkX graph, with the weights of parallel edges added up."""
        import networkx as nx  # noqa: PLC0415 - 80 ms that only a query pays

        graph = nx.DiGraph()
        graph.add_nodes_from(self.nodes)
        for source, target, weight in zip(
            self._source.tolist(), self._target.tolist(), self._weight.tolist(), strict=True
        ):
            before = graph.get_edge_data(self.nodes[source], self.nodes[target], {"weight": 0.0})["weight"]
            graph.add_edge(self.nodes[source], self.nodes[target], weight=before + weight)
        return graph


def power_iteration(
    graph: CsrGraph, restart: Floats, *, alpha: float, tol: float, max_iter: int = 100, dangling: Floats | None = None
) -> Floats | None:
    """Return the stationary ranks of a walk that restarts with probability 1 - alpha; None if it did not converge.

    `restart` sums to 1, and so does `dangling`, the distribution after a node without outgoing edges (else `restart`).
    It has converged when one step changes the ranks by less than `tol` in all.
    """
    ranks = restart
    sinks = graph.dangling if dangling is not None else None
    for _ in range(max_iter):
        moved = alpha * graph.step(ranks)
        if sinks is not None and dangling is not None:
            moved += alpha * float(ranks[sinks].sum()) * dangling
        moved += (1.0 - float(moved.sum())) * restart
        change = float(np.abs(moved - ranks).sum())
        ranks = moved
        if change < tol:
            return ranks
    return None


def forward_push(graph: CsrGraph, restart: Floats, *, alpha: float, floor: float) -> Floats:
    """Approximate the ranks of `power_iteration` from below, each short by at most `floor · n · PageRank(row)`.

    That PageRank has a uniform restart, and goes from dangling nodes to `restart`. The bound holds because the mass
    left to push is at most `floor` at each of the n rows, and reaches a row as a walk from a uniform start does.
    """
    ranks = np.zeros(len(graph))
    left = restart.copy()
    front = np.flatnonzero(left > floor)
    while len(front):
        mass = left[front]
        left[front] = 0.0
        ranks[front] += (1.0 - alpha) * mass
        left += graph.spread(front, alpha * mass)
        stuck = float(mass[graph.dangling[front]].sum())
        if stuck > 0.0:
            left += alpha * stuck * restart
        front = np.flatnonzero(left > floor)
    return np.asarray(ranks + (1.0 - alpha) * left)


class Ranks(Mapping[Hashable, float]):
    """A mapping from node to rank; `every` holds all ranks in the order of the nodes."""

    def __init__(self, graph: CsrGraph, every: Floats) -> None:
        self._graph = graph
        self.every = every

    def __getitem__(self, node: Hashable) -> float:
        return float(self.every[self._graph.position[node]])

    def __iter__(self) -> Iterator[Hashable]:
        return iter(self._graph)

    def __len__(self) -> int:
        return len(self.every)


class Backend:
    """The backend object that NetworkX dispatches to; its signatures are NetworkX's."""

    @staticmethod
    def convert_from_nx(
        graph: Any, *, edge_attrs: Mapping[str, Any] | None = None, weight: str | None = None, **_: object
    ) -> CsrGraph:
        """Return a NetworkX graph as arrays; the named attribute gives each edge's weight, else it is 1."""
        attribute = weight or next(iter(edge_attrs or ()), None)
        nodes = list(graph)
        position = {node: row for row, node in enumerate(nodes)}
        rows = [
            (position[a], position[b], 1.0 if attribute is None else float(data.get(attribute, 1.0)))
            for a, b, data in graph.edges(data=True)
        ]
        if not graph.is_directed():
            rows += [(b, a, w) for a, b, w in rows if a != b]
        columns = np.array(rows, dtype=np.float64).reshape(-1, 3)
        return CsrGraph(nodes, columns[:, 0].astype(np.int64), columns[:, 1].astype(np.int64), columns[:, 2])

    @staticmethod
    def convert_to_nx(result: Any, **_: object) -> Any:
        """Return a result in NetworkX's types: graphs are converted, other values stay."""
        if isinstance(result, Ranks):
            return dict(result)
        return result.to_networkx() if isinstance(result, CsrGraph) else result

    @staticmethod
    def pagerank(  # noqa: PLR0913, PLR0917 - NetworkX's signature
        graph: CsrGraph,
        alpha: float = 0.85,
        personalization: Mapping[Hashable, float] | None = None,
        max_iter: int = 100,
        tol: float = 1e-6,
        nstart: Mapping[Hashable, float] | None = None,  # noqa: ARG004 - where the walk starts does not change where it ends
        weight: str | None = "weight",
        dangling: Mapping[Hashable, float] | None = None,
        *,
        floor: float = 0.0,
    ) -> Mapping[Hashable, float]:
        """Return every node's rank; empty if the graph is empty or no known node has weight in `personalization`.

        NetworkX itself raises a bare ZeroDivisionError in the last case. With a `floor`, forward push computes the
        ranks of a graph of more than EXACT_EDGES edges.

        Raises:
            networkx.PowerIterationFailedConvergence: it did not converge within `max_iter` steps.
        """
        size = len(graph)
        restart = np.full(size, 1.0 / max(size, 1)) if personalization is None else _spread(graph, personalization)
        if restart is None or not size:
            return {}
        walked = graph if weight is not None else graph.unweighted()
        if floor > 0.0 and walked.edges > EXACT_EDGES and dangling is None:
            return Ranks(graph, forward_push(walked, restart, alpha=alpha, floor=floor))
        sinks = None if dangling is None else _spread(graph, dangling)
        # NetworkX's rule: `tol` is per node.
        ranks = power_iteration(walked, restart, alpha=alpha, tol=size * tol, max_iter=max_iter, dangling=sinks)
        if ranks is None:
            import networkx as nx  # noqa: PLC0415

            raise nx.PowerIterationFailedConvergence(max_iter)
        return Ranks(graph, ranks)


def get_info() -> dict[str, Any]:
    """Describe the backend to NetworkX."""
    return {
        "backend_name": BACKEND,
        "project": "repertoire",
        "package": "repertoire",
        "short_summary": "Personalised PageRank by power iteration or forward push on a kept CSR matrix",
        "functions": {
            "pagerank": {"additional_parameters": {"floor : float, default 0": "rank that is not worth pushing on"}}
        },
    }


def _spread(graph: CsrGraph, weights: Mapping[Hashable, float]) -> Floats | None:
    spread = np.zeros(len(graph))
    for node, weight in weights.items():
        row = graph.position.get(node)
        if row is not None and weight > 0:
            spread[row] = weight
    total = float(spread.sum())
    return spread / total if total > 0 else None
