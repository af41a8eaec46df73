"""The graph of tasks has no circle, and a task is ready exactly when nothing unfinished blocks it."""

from __future__ import annotations

import networkx as nx
from hypothesis import given
from hypothesis import strategies as st

from repertoire.domain.project import TASK_STATES
from repertoire.projects.tasks import circle, ready

NAMES = st.sampled_from("abcdefg")
EDGES = st.lists(st.tuples(NAMES, NAMES), max_size=20)


@given(EDGES)
def test_edges_that_close_no_circle_make_a_graph_without_one(edges):
    kept: list[tuple[str, str]] = []
    for source, target in edges:
        around = circle(kept, source, target)
        graph = nx.DiGraph([*kept, ("-", source), ("-", target)])
        closes = nx.has_path(graph, target, source)
        assert bool(around) == closes
        if not around:
            kept.append((source, target))
    assert nx.is_directed_acyclic_graph(nx.DiGraph(kept))


@given(st.dictionaries(NAMES, st.sampled_from(TASK_STATES)), EDGES)
def test_a_task_is_ready_when_it_is_not_begun_and_all_that_blocks_it_is_closed(states, edges):
    for task in states:
        blockers = [source for source, target in edges if target == task]
        free = all(states.get(one, "done") in ("done", "dropped") for one in blockers)
        assert (task in ready(states, edges)) == (free and states[task] in ("backlog", "todo"))
