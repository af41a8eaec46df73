"""Personalised PageRank equals the dense linear system and NetworkX's own, and NetworkX finds the backend."""

import configparser
from pathlib import Path

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from repertoire.retrieval.ppr import EXACT_EDGES, Backend, CsrGraph, Ranks, forward_push

ROOT = Path(__file__).parents[2]
TIGHT = 1e-12


@st.composite
def graphs(draw):
    """Draw a graph with dangling nodes, self loops, islands and parallel edges, and seeds for it."""
    size = draw(st.integers(1, 12))
    node = st.integers(0, size - 1)
    edges = draw(st.lists(st.tuples(node, node, st.floats(0.1, 10)), max_size=30))
    seeds = draw(st.dictionaries(node, st.floats(0.1, 5), min_size=1, max_size=size))
    return size, edges, seeds, draw(st.floats(0.05, 0.95))


def csr(size, edges):
    columns = np.array(edges, dtype=float).reshape(-1, 3)
    return CsrGraph(range(size), columns[:, 0].astype(int), columns[:, 1].astype(int), columns[:, 2])


def textbook(size, edges, restart, sinks, alpha):
    """Solve x = alpha (P' x + sinks · (dangling mass of x)) + (1 - alpha) restart as a linear system."""
    weights = np.zeros((size, size))
    for source, target, weight in edges:
        weights[source, target] += weight
    out = weights.sum(axis=1)
    walk = np.where(out[:, None] > 0, weights / np.where(out > 0, out, 1)[:, None], sinks[None, :])
    return np.linalg.solve(np.eye(size) - alpha * walk.T, (1 - alpha) * restart)


def dense(size, weights):
    vector = np.zeros(size)
    for node, weight in weights.items():
        vector[node] = weight
    return vector / vector.sum()


@given(graphs())
@settings(deadline=None)
def test_ranks_solve_the_textbook_equation(case):
    size, edges, seeds, alpha = case
    restart = dense(size, seeds)
    ranks = nx.pagerank(csr(size, edges), alpha=alpha, personalization=seeds, tol=TIGHT, max_iter=2000)
    expected = textbook(size, edges, restart, restart, alpha)
    assert np.allclose([ranks[node] for node in range(size)], expected, atol=1e-9)


@given(graphs(), st.integers(0, 11))
@settings(deadline=None)
def test_a_walk_at_a_dead_end_goes_where_it_is_told(case, sink):
    size, edges, seeds, alpha = case
    sinks = {sink % size: 1.0}
    ranks = nx.pagerank(csr(size, edges), alpha, seeds, tol=TIGHT, max_iter=2000, dangling=sinks)
    expected = textbook(size, edges, dense(size, seeds), dense(size, sinks), alpha)
    assert np.allclose([ranks[node] for node in range(size)], expected, atol=1e-9)


@given(graphs(), st.booleans())
@settings(deadline=None)
def test_networkx_gives_the_same_in_plain_python(case, directed):
    from networkx.algorithms.link_analysis.pagerank_alg import _pagerank_python

    size, edges, seeds, alpha = case
    graph = nx.DiGraph() if directed else nx.Graph()
    graph.add_nodes_from(f"n{i}" for i in range(size))
    graph.add_weighted_edges_from((f"n{a}", f"n{b}", w) for a, b, w in edges)
    named = {f"n{node}": weight for node, weight in seeds.items()}
    ours = nx.pagerank(graph, alpha, named, tol=TIGHT, max_iter=2000, backend="repertoire")
    theirs = _pagerank_python(graph, alpha, named, tol=TIGHT, max_iter=2000)
    assert ours == pytest.approx(theirs, abs=1e-9)


@given(graphs(), st.floats(1e-6, 0.5))
@settings(deadline=None)
def test_forward_push_stays_below_the_ranks_by_no_more_than_it_says(case, floor):
    from networkx.algorithms.link_analysis.pagerank_alg import _pagerank_python

    size, edges, seeds, alpha = case
    graph, exactly = csr(size, edges), {"tol": TIGHT, "max_iter": 5000}
    theirs = _pagerank_python(graph.to_networkx(), alpha, seeds, dangling=seeds, **exactly)
    plain = _pagerank_python(graph.to_networkx(), alpha, dangling=seeds, **exactly)
    pushed = forward_push(graph, dense(size, seeds), alpha=alpha, floor=floor)
    for node in range(size):
        assert pushed[node] <= theirs[node] + 1e-8
        assert theirs[node] - pushed[node] <= floor * size * plain[node] + 1e-8


def test_large_graphs_are_pushed_and_small_ones_walked_to_the_end():
    dice = np.random.default_rng(3)
    for edges in (EXACT_EDGES, EXACT_EDGES + 1):
        graph = CsrGraph(range(2000), *dice.integers(0, 2000, (2, edges)), np.ones(edges))
        asked = {"personalization": {0: 1.0}, "tol": 1e-12, "max_iter": 500}
        exact = nx.pagerank(graph, **asked)
        pushed = nx.pagerank(graph, **asked, floor=1e-4, backend="repertoire")
        assert isinstance(pushed, Ranks)
        assert (pushed == exact) == (edges == EXACT_EDGES)
        assert pushed.every == pytest.approx(exact.every, abs=1e-3)


@given(graphs())
@settings(deadline=None)
def test_a_graph_survives_the_way_to_networkx_and_back(case):
    size, edges, seeds, alpha = case
    graph = csr(size, edges)
    converted = graph.to_networkx()
    assert type(converted) is nx.DiGraph
    assert converted.number_of_nodes() == size
    there_and_back = Backend.convert_from_nx(converted, edge_attrs={"weight": 1.0})
    assert Backend.pagerank(there_and_back, alpha, seeds, tol=TIGHT, max_iter=2000) == pytest.approx(
        Backend.pagerank(graph, alpha, seeds, tol=TIGHT, max_iter=2000), abs=1e-9
    )


@pytest.mark.parametrize("seeds", [{}, {"nobody": 1.0}, {0: 0.0}], ids=["none", "unknown", "weightless"])
def test_seeds_that_seed_nothing_rank_nothing(seeds):
    assert nx.pagerank(csr(3, [(0, 1, 1.0)]), personalization=seeds) == {}


def test_an_empty_graph_ranks_nothing():
    assert nx.pagerank(csr(0, []), personalization={0: 1.0}) == {}


def test_an_island_keeps_all_rank_to_itself():
    ranks = nx.pagerank(csr(3, [(1, 2, 1.0)]), personalization={0: 1.0})
    assert ranks == {0: 1.0, 1: 0.0, 2: 0.0}


def test_weights_can_be_ignored():
    graph = csr(3, [(0, 1, 9.0), (0, 2, 1.0)])
    ranks = nx.pagerank(graph, personalization={0: 1.0}, weight=None)
    assert ranks[1] == pytest.approx(ranks[2])


def test_a_walk_that_does_not_settle_is_an_error():
    with pytest.raises(nx.PowerIterationFailedConvergence):
        nx.pagerank(csr(2, [(0, 1, 1.0), (1, 0, 1.0)]), personalization={0: 1.0}, alpha=0.99, max_iter=3, tol=TIGHT)


def test_networkx_finds_the_backend_without_an_installed_package():
    assert "repertoire" in nx.config.backends
    assert nx.pagerank(nx.path_graph(3), backend="repertoire").keys() == {0, 1, 2}


def test_the_tracked_metadata_says_what_the_project_file_says():
    tomllib = pytest.importorskip("tomllib", reason="Python 3.10 has no tomllib")
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    entry_points = configparser.ConfigParser()
    entry_points.read(ROOT / "server/repertoire.dist-info/entry_points.txt")
    assert {name: dict(entry_points[name]) for name in entry_points.sections()} == project["entry-points"]
    metadata = dict(
        line.split(": ") for line in (ROOT / "server/repertoire.dist-info/METADATA").read_text().splitlines()
    )
    assert (metadata["Name"], metadata["Version"]) == (project["name"], project["version"])
