"""Past requests: nodes with what was selected for them, kept through everything but a wish to forget."""

from __future__ import annotations

import numpy as np
import pytest

from repertoire.domain.answer import REQUEST_SPACE
from repertoire.store.database import Store
from repertoire.store.requests import Request, Selection
from store.samples import LATER, NOW, SOURCE, component, record

KEY, A, B = "request:1f", "acme:a", "acme:b"


@pytest.fixture
def store(tmp_path):
    with Store.open(tmp_path / "repertoire.db") as store:
        store.sources.write(SOURCE, [record("f", component(A), component(B))], (), derived=(), now=NOW)
        yield store


def served(store, key=KEY):
    return [(link.other, link.weight, link.evidence) for link in store.graph.links(key)]


def texts(store):
    return {node: data.get("text") for node, data in store.graph.data("request").items()}


def test_a_request_is_a_node_without_a_name_and_its_text_is_kept_only_if_given(store):
    first = store.requests.record(KEY, text="add a login", project="/p", session="s", now=NOW)
    second = store.requests.record("request:2f", project="/p", now=NOW)
    topology = store.graph.topology()
    assert [
        (key, kind, name)
        for key, kind, name in zip(topology.keys, topology.types, topology.names, strict=True)
        if kind == "request"
    ] == [(KEY, "request", ""), ("request:2f", "request", "")]
    assert texts(store) == {first: "add a login", second: None}
    assert store.requests.count() == 2


def test_recording_the_same_again_moves_nothing(store):
    node = store.requests.record(KEY, text="add a login", project="/p", session="s", now=NOW)
    revision = store.graph.revision()
    assert store.requests.record(KEY, text="add a login", project="/p", session="another", now=LATER) == node
    assert store.requests.record(KEY, now=LATER) == node
    assert store.graph.revision() == revision
    assert texts(store) == {node: "add a login"}


def test_selections_add_up(store):
    store.requests.select(KEY, A, evidence="session s", now=NOW)
    store.requests.select(KEY, A, evidence="session t", now=NOW)
    assert served(store) == [(A, 2.0, "session t")]


def test_a_selection_outlives_the_component_and_finds_it_when_it_comes_back(store):
    store.requests.select(KEY, A, now=NOW)
    node = store.graph.by_key(A).node_id
    store.sources.remove(SOURCE.key)
    assert served(store) == [(A, 1.0, "")]
    store.sources.write(SOURCE, [record("f", component(A))], (), derived=(), now=LATER)
    assert store.graph.by_key(A).node_id == node
    assert served(store) == [(A, 1.0, "")]


def test_thousands_are_recorded_in_one_go(store):
    requests = [Request(f"request:{n}", text=f"task {n}", selected=(Selection(A), Selection(B))) for n in range(3000)]
    revision = store.graph.revision()
    ids = store.requests.record_many(requests, now=NOW)
    assert store.graph.revision() == revision + 1
    assert len(set(ids)) == 3000
    assert all(served(store, f"request:{n}") == [(A, 1.0, ""), (B, 1.0, "")] for n in (0, 1))
    assert texts(store)[ids[2999]] == "task 2999"


def test_requests_have_a_vector_space_of_their_own(store):
    ids = store.requests.record_many(
        [Request("request:1", "one"), Request("request:2", "two"), Request("request:3")], now=NOW
    )
    assert store.requests.pending("m", limit=9) == [(ids[0], "request:1", "one"), (ids[1], "request:2", "two")]
    vectors = np.eye(3, 4, dtype=np.float32)
    store.vectors.put(REQUEST_SPACE, "m", [(node, "request") for node in ids], vectors)
    assert store.requests.pending("m", limit=9) == []
    assert np.array_equal(store.vectors.matrix(REQUEST_SPACE, "m")[1], vectors)
    assert store.vectors.progress(REQUEST_SPACE, "m").done == 0  # progress is of components


def test_requests_are_not_components(store):
    node = store.requests.record(KEY, text="a", now=NOW)
    assert store.graph.components([node]) == {}
    assert store.graph.by_key(KEY) is None
    assert [row.id for row in store.graph.summaries()] == [A, B]
    assert node not in [row[0] for row in store.vectors.pending("body", "m", limit=9)]


def test_removing_a_source_or_replacing_learned_edges_leaves_requests(store):
    store.requests.record(KEY, now=NOW)
    store.sources.remove(SOURCE.key)
    store.sources.set_edges([], now=NOW, file="patterns")
    assert store.requests.count() == 1
