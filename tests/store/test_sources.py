"""What a source brings, what another source keeps of it, and what hostile text cannot break."""

from __future__ import annotations

import datetime as dt
import itertools

import pytest

from repertoire.domain.component import BODY_INDEXED, Edge, FileRecord, Node, SourceInfo, not_installable
from repertoire.domain.invocation import NOBODY, PERSON
from repertoire.store.database import Store
from store.samples import LATER, NOW, SOURCE, component, record

OTHER = SourceInfo("folder:/srv/other", "folder", "/srv/other")
A, B = "acme:skills/a", "acme:skills/b"


def words(store: Store, word: str) -> set[str]:
    ids = [node_id for node_id, _ in store.graph.match([word], limit=50, weights=(1, 1, 1))]
    return {stored.component.id for stored in store.graph.components(ids).values()}


def test_a_component_comes_back_as_it_was_written(store):
    written = component(
        A,
        "Reviews code",
        body="# Review\nlong text",
        code="def review(): ...",
        examples=("review this", "check that"),
        front_matter={"name": "a", "nested": {"list": [1, None, True]}},
        allowed_tools=("Read", "Grep"),
        repository="acme/skills",
        path="skills/a/SKILL.md",
        plugin="reviews",
        marketplace="acme",
        licence="MIT",
        first_commit="2025-01-01",
        last_commit="2025-02-01",
        installed=True,
        install=("/plugin install reviews@acme",),
        popularity=2.5,
    )
    store.sources.write(SOURCE, [record("a", written)], (), derived=(), now=NOW)
    stored = store.graph.by_key(A)
    assert stored.component == written
    assert (stored.source, stored.source_kind, stored.first_seen) == (SOURCE.key, "git", NOW)
    assert store.graph.components([stored.node_id, 999]) == {stored.node_id: stored}
    assert [found.component for found in store.graph.by_name("A")] == [written]
    assert [(row.id, row.installed, row.popularity, row.plugin) for row in store.graph.summaries()] == [
        (A, True, 2.5, "reviews")
    ]


def test_what_nobody_can_have_is_told_of_all_by_the_rule_that_tells_why_of_one(store):
    keys, starts = ("acme:a", "acme:https://a.example/b"), ("", PERSON, NOBODY)
    tried = itertools.product(keys, (True, False), ((), ("cp a b",)), ("", "cursor"), starts)
    components = [
        component(f"{key}-{n}", f"{n}", installed=installed, install=install, client=client, invocation=invocation)
        for n, (key, installed, install, client, invocation) in enumerate(tried)
    ]
    store.sources.write(SOURCE, [record("a", *components)], (), derived=(), now=NOW)
    told = {one.id for one in components if one.client or one.invocation == NOBODY or not_installable(one)}
    assert store.graph.unobtainable() == told
    assert len(told) == 34
    store.sources.write(SOURCE, [record("a", components[0])], (), derived=(), now=LATER)
    assert store.graph.unobtainable() == frozenset()


def test_a_changed_file_touches_only_its_own_nodes(store):
    store.sources.write(
        SOURCE, [record("a", component(A, "one")), record("b", component(B, "two"))], (), derived=(), now=NOW
    )
    a, b = store.graph.by_key(A), store.graph.by_key(B)
    written = store.sources.write(SOURCE, [record("a", component(A, "three"))], (), derived=(), now=LATER)
    assert (written.changed, written.removed) == (1, 0)
    assert store.graph.by_key(B) == b
    changed = store.graph.by_key(A)
    assert (changed.node_id, changed.first_seen) == (a.node_id, NOW)
    assert (changed.component.version, changed.component.description) == (2, "three")
    assert (words(store, "one"), words(store, "three")) == (set(), {A})


def test_a_component_that_moves_to_another_file_stays_the_same_node(store):
    store.sources.write(SOURCE, [record("a", component(A, "one"))], (), derived=(), now=NOW)
    before = store.graph.by_key(A).node_id
    written = store.sources.write(SOURCE, [record("b", component(A, "one"))], ["a"], derived=(), now=LATER)
    assert (store.graph.by_key(A).node_id, written.removed) == (before, 0)
    assert store.sources.file_hashes(SOURCE.key).keys() == {"b"}


def test_an_unchanged_file_keeps_its_edge_to_a_component_that_went_and_came_back(store):
    edge = Edge(A, B, "mentions")
    first = [record("a", component(A), edges=(edge,)), record("b", component(B))]
    store.sources.write(SOURCE, first, (), derived=(), now=NOW)
    before = store.graph.by_key(B).node_id
    store.sources.write(SOURCE, [], ["b"], derived=(), now=NOW)
    assert store.graph.by_key(B) is None
    assert [(link.other, link.other_type) for link in store.graph.links(A)] == [(B, "concept")]
    revision = store.graph.revision()
    store.sources.write(SOURCE, first[1:], (), derived=(), now=NOW)
    assert store.graph.by_key(B).node_id == before
    assert [(link.other, link.other_type) for link in store.graph.links(A)] == [(B, "component")]
    assert store.graph.revision() > revision


def test_a_stand_in_tells_nothing_of_the_component_that_went(store):
    store.sources.write(
        SOURCE, [record("b", component(B, "private words", name="Secret name"))], (), derived=(), now=NOW
    )
    store.sources.write(OTHER, [record("a", component(A), edges=(Edge(A, B, "depends_on"),))], (), derived=(), now=NOW)
    store.sources.remove(SOURCE.key)
    assert [link.other_name for link in store.graph.links(A)] == [B]
    assert words(store, "private") == set()
    assert store.graph.counts()["components"] == 1


def test_removing_a_source_leaves_what_another_source_says_of_the_same_capability(store):
    for info, key in ((SOURCE, A), (OTHER, B)):
        provides = Edge(key, "capability:auth", "provides")
        node = Node("capability:auth", "capability", "auth")
        store.sources.write(
            info, [record("f", component(key), edges=(provides,), nodes=(node,))], (), derived=(), now=NOW
        )
    assert store.sources.remove(SOURCE.key)
    assert [link.other for link in store.graph.links("capability:auth")] == [B]
    assert store.sources.remove(OTHER.key)
    assert store.graph.counts() == {"components": 0, "nodes": 0, "edges": 0, "capabilities": 0}
    assert not store.sources.remove(OTHER.key)


def test_two_sources_may_say_the_same_and_each_takes_back_its_own(store):
    edge = Edge("capability:a", "capability:b", "alternative_to")
    for info in (SOURCE, OTHER):
        store.sources.write(info, [record("f", edges=(edge,))], (), derived=(), now=NOW)
    assert store.graph.counts()["edges"] == 2
    store.sources.remove(OTHER.key)
    assert store.graph.counts()["edges"] == 1


def test_files_that_were_left_out_are_listed_with_their_reasons(store):
    skipped = FileRecord("bad/SKILL.md", "h1", skipped="front matter is no YAML")
    store.sources.write(SOURCE, [skipped, record("a", component(A))], (), derived=(), now=NOW)
    assert store.sources.skipped(SOURCE.key) == [("bad/SKILL.md", "front matter is no YAML")]
    (row,) = store.sources.all()
    assert (row.info, row.components, row.skipped, row.ingested_at) == (SOURCE, 1, 1, NOW)
    store.sources.write(SOURCE, [record("bad/SKILL.md", component(B))], (), derived=(), now=LATER)
    assert store.sources.skipped(SOURCE.key) == []


def test_a_write_that_fails_leaves_nothing_of_itself(store):
    store.sources.write(SOURCE, [record("a", component(A, "one"))], (), derived=(), now=NOW)
    revision = store.graph.revision()
    broken = Edge(A, B, "mentions", weight=float("nan"))
    with pytest.raises(Exception, match="NOT NULL"):
        store.sources.write(SOURCE, [record("b", component(B, "two"), edges=(broken,))], (), derived=(), now=LATER)
    assert store.graph.by_key(B) is None
    assert store.graph.revision() == revision
    assert store.sources.all()[0].ingested_at == NOW


def test_only_the_first_part_of_a_body_is_searched_and_the_whole_is_kept(store):
    body = "early " + "x " * BODY_INDEXED + "late"
    store.sources.write(SOURCE, [record("a", component(A, body=body))], (), derived=(), now=NOW)
    assert (words(store, "early"), words(store, "late")) == ({A}, set())
    assert store.graph.by_key(A).component.body == body


def test_text_that_no_encoding_carries_is_mended_not_fatal(store):
    hostile = component(
        "acme:\udcff/\x00",
        "half a pair \ud800 and \x00 nothing",
        name="\udfff",
        content_hash="h",
        front_matter={"when": dt.date(2026, 1, 1), ("a", "b"): 1, "text": "\ud800"},
    )
    edge = Edge("acme:\udcff/\x00", "capability:\ud800", "provides", evidence="\udcff")
    hostile_record = FileRecord("\udcff/SKILL.md", "h", (hostile,), (), (edge,), "")
    store.sources.write(SOURCE, [hostile_record], (), derived=(), now=NOW)
    revision = store.graph.revision()
    store.sources.write(SOURCE, [hostile_record], ["\udcff/SKILL.md"], derived=(), now=NOW)
    assert store.graph.revision() == revision
    (stored,) = store.graph.components(store.graph.topology().ids.tolist()).values()
    assert stored.component.front_matter["when"] == "2026-01-01"
    assert words(store, "pair") == {stored.component.id}


def test_edges_under_a_label_are_replaced_and_others_stay(store):
    store.sources.write(
        SOURCE, [record("f", component(A), component(B), edges=(Edge(A, B, "mentions"),))], (), derived=(), now=NOW
    )
    with store.transaction():
        store.sources.add_node(Node("pattern:ab", "pattern", "ab", {"size": 2}), now=NOW)
        store.sources.set_edges([Edge(A, "pattern:ab", "member_of")], now=NOW, file="patterns")
    revision = store.graph.revision()
    store.sources.set_edges([Edge(A, "pattern:ab", "member_of")], now=LATER, file="patterns")
    assert store.graph.revision() == revision
    store.sources.set_edges([], now=LATER, file="patterns")
    assert [link.relation for link in store.graph.links(A)] == ["mentions"]
    assert store.graph.counts()["nodes"] == 2


def test_an_edge_that_is_said_twice_counts_once_with_its_last_weight(store):
    twice = (Edge(A, B, "mentions", 0.25), Edge(A, B, "mentions", 0.75), Edge(A, A, "mentions"))
    store.sources.write(SOURCE, [record("f", component(A), edges=twice)], (), derived=(), now=NOW)
    assert [(link.other, link.weight) for link in store.graph.links(A)] == [(B, 0.75)]


def test_the_topology_is_the_graph_as_positions(store):
    store.sources.write(
        SOURCE, [record("f", component(A), component(B), edges=(Edge(B, A, "mentions", 0.5),))], (), derived=(), now=NOW
    )
    topology = store.graph.topology()
    assert topology.revision == store.graph.revision()
    assert topology.keys == (A, B)
    assert topology.names == ("a", "b")
    assert [topology.keys[at] for at in (*topology.source, *topology.target)] == [B, A]
    assert topology.weight.tolist() == [0.5]
    assert topology.relation == ("mentions",)


def test_an_empty_store_answers_everything_with_nothing(store):
    assert store.graph.topology().ids.size == 0
    assert store.graph.summaries() == []
    assert store.graph.match([], limit=5, weights=(1, 1, 1)) == []
    assert store.graph.match(['"'], limit=5, weights=(1, 1, 1)) == []
    assert store.graph.document_frequency(["a"]) == {"a": 0}
    assert store.graph.by_name("a") == []
    assert store.graph.links("a") == []
