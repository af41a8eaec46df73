"""The cached snapshot is right at every revision, and reloaded only when the store changed."""

import numpy as np

from repertoire.domain.answer import BODY_SPACE, REQUEST_SPACE
from repertoire.domain.component import ALTERNATIVE_TO, COMPONENT, CONFLICTS_WITH, TWIN_OF, Edge
from repertoire.retrieval.arrays import best_rows
from repertoire.retrieval.filters import silenced_rows
from repertoire.retrieval.snapshot import Snapshots
from repertoire.retrieval.walk import warm
from sample_home import NOW, SOURCE, component, fill, record_of


class Clock:
    now = 0.0

    def __call__(self):
        return self.now


def snapshots(store, clock=None):
    return Snapshots(store.graph, store.vectors, model="m", clock=clock or Clock())


def put_vectors(store, count):
    rows = [(s.node_id, s.content_hash) for s in store.graph.summaries()][:count]
    store.vectors.put(BODY_SPACE, "m", rows, np.eye(count, 8, dtype=np.float32))


def test_rows_and_positions_name_the_same_component(store):
    snapshot = snapshots(store).current()
    for row, summary in enumerate(snapshot.summaries):
        position = snapshot.positions[row]
        assert snapshot.topology.keys[position] == summary.id
        assert snapshot.row_at[position] == row
    others = [kind for kind, row in zip(snapshot.topology.types, snapshot.row_at, strict=True) if row < 0]
    assert COMPONENT not in others


def test_nothing_is_read_again_while_nothing_moves(store):
    kept = snapshots(store)
    assert kept.current() is kept.current()


def test_a_new_component_is_there_at_the_next_question(store):
    kept = snapshots(store)
    before = len(kept.current())
    store.sources.write(SOURCE, [record_of(component("skill", "new", "A new one."))], [], derived=[], now=NOW)
    assert len(kept.current()) == before + 1


def test_new_vectors_are_read_but_not_for_every_batch_of_a_stream(store):
    clock = Clock()
    kept = snapshots(store, clock)
    assert len(kept.current().spaces[BODY_SPACE].rows) == 0
    put_vectors(store, 3)
    assert len(kept.current().spaces[BODY_SPACE].rows) == 0
    clock.now = 10.0
    assert len(kept.current().spaces[BODY_SPACE].rows) == 3


def test_new_vectors_leave_what_was_worked_out_of_the_graph(store):
    clock = Clock()
    kept = snapshots(store, clock)
    before = kept.current()
    before.warm()
    warm(before)
    put_vectors(store, 3)
    clock.now = 10.0
    after = kept.current()
    assert after is not before
    assert after.graph is before.graph
    assert after.topology is before.topology
    assert len(before.spaces[BODY_SPACE].rows) == 0
    assert len(after.spaces[BODY_SPACE].rows) == 3


def test_a_request_that_is_learned_leaves_the_vectors_of_components_as_they_were_read(store):
    clock = Clock()
    kept = snapshots(store, clock)
    put_vectors(store, 3)
    before = kept.current()
    node = store.requests.record("request:a", text="asked", now=NOW)
    store.vectors.put(REQUEST_SPACE, "m", [(node, "h")], np.eye(1, 8, dtype=np.float32))
    after = kept.current()
    assert len(after.spaces[REQUEST_SPACE].rows) == 1
    assert after.spaces[BODY_SPACE].vectors is before.spaces[BODY_SPACE].vectors


def test_edges_lead_where_the_topology_says(store):
    snapshot = snapshots(store).current()
    topology = snapshot.topology
    for relation in {*topology.relation, "unheard-of"}:
        expected = {}
        for source, target, name in zip(topology.source, topology.target, topology.relation, strict=True):
            if name == relation:
                expected.setdefault(int(source), []).append(int(target))
        assert snapshot.edges(relation) == {source: tuple(targets) for source, targets in expected.items()}


def test_vectors_of_nodes_that_are_gone_are_left_out(store):
    put_vectors(store, 8)
    kept = snapshots(store)
    kept.current()
    store.sources.write(SOURCE, [], ["skills/changelog.md"], derived=[], now=NOW)
    snapshot = kept.current()
    assert len(snapshot.spaces[BODY_SPACE].rows) == len(snapshot) == 7


def test_an_empty_store_is_an_empty_snapshot(tmp_path):
    from repertoire.store.database import Store

    with Store.open(tmp_path / "empty.db") as empty:
        snapshot = snapshots(empty).current()
        assert len(snapshot) == 0
        assert snapshot.priors.shape == (2, 0)
        assert len(snapshot.graph) == 0


def test_what_many_share_leads_less_far_than_a_direct_edge(store):
    snapshot = snapshots(store).current()
    shared = snapshot.row_at < 0
    assert shared.any()
    assert snapshot.directness[~shared[snapshot.topology.target]].min(initial=1.0) == 1.0
    assert snapshot.directness[shared[snapshot.topology.target]].max() <= 0.1


def test_names_that_several_carry_are_known(store):
    fill(store, component("agent", "changelog", "Another of this name."))
    snapshot = snapshots(store).current()
    carried = dict(zip([s.id for s in snapshot.summaries], snapshot.priors[1], strict=True))
    assert carried["folder:/shelf:agents/changelog.md"] == np.log(2)
    assert carried["folder:/shelf:commands/ship.md"] == 0.0


def test_a_shelf_of_single_tools_is_told_from_one_that_has_some(store):
    tools = [component("tool", f"tool-{number}", "Does one thing.") for number in range(9)]
    fill(store, *tools[:3])
    assert not snapshots(store).current().mostly_tools
    fill(store, *tools)
    assert snapshots(store).current().mostly_tools


def test_the_best_rows_come_in_order_and_equal_ones_by_row():
    assert best_rows(np.array([1.0, 3.0, -np.inf, 3.0, 2.0]), 10).tolist() == [1, 3, 4, 0]
    assert best_rows(np.array([1.0, 3.0, 3.0]), 1).tolist() == [1]
    assert best_rows(np.zeros(0), 5).tolist() == []


def test_a_walk_passes_over_conflicts_and_copies(store):
    first, second, third, fourth = (summary.id for summary in store.graph.summaries()[:4])
    edges = [
        Edge(first, second, CONFLICTS_WITH, 1.0),
        Edge(first, third, TWIN_OF, 1.0),
        Edge(first, fourth, ALTERNATIVE_TO, 1.0),
    ]
    store.sources.set_edges(edges, now=NOW, file="across")
    snapshot = snapshots(store).current()
    near = {snapshot.topology.keys[at] for at in snapshot.graph.entering(snapshot.position_of[first])[0].tolist()}
    assert fourth in near
    assert {second, third} & near == set()
    assert snapshot.edges(CONFLICTS_WITH) == {snapshot.position_of[first]: (snapshot.position_of[second],)}


def test_one_long_repository_takes_no_room_for_every_other_component(store):
    for name, repository in (("short", "github.com/acme/willow"), ("long", f"github.com/acme/{'w' * 100_000}")):
        one = component("skill", name, "Weaves.", repository=repository)
        store.sources.write(SOURCE, [record_of(one)], [], derived=[], now=NOW)
    snapshot = snapshots(store).current()

    silenced = silenced_rows(snapshot, frozenset(["github.com/acme/willow"]))

    assert [snapshot.summaries[row].name for row in np.flatnonzero(silenced)] == ["short"]
    assert all(snapshot.column(name).nbytes < 100 * len(snapshot) for name in ("id", "source", "repository"))
