"""Any sequence of writes and removals leaves what an independent model of the rules says, and nothing else."""

from __future__ import annotations

import tempfile
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from examples import examples
from repertoire.domain.component import Component, Edge, FileRecord, Node, SourceInfo
from repertoire.store.database import Store
from store.samples import NOW

SOURCES, FILES = ("s0", "s1", "s2"), ("a.md", "b.md")
COMPONENTS = tuple(f"{source}:{file}#{name}" for source in SOURCES for file in FILES for name in ("x", "y"))
OTHERS = ("capability:auth", "requirement:binary:git", "ghost", "pattern:web")
TYPES = {"capability": "capability", "requirement": "requirement", "pattern": "pattern", "ghost": "concept"}


@dataclass
class Model:
    """The rules, said another way: sets that are computed anew each time from what every owner said last."""

    files: dict[tuple[str, str], FileRecord] = field(default_factory=dict)
    derived: dict[tuple[str, str], tuple[Edge, ...]] = field(default_factory=dict)
    versions: dict[str, int] = field(default_factory=dict)

    def write(self, source: str, records: list[FileRecord], gone: list[str], derived: tuple[Edge, ...]) -> None:
        before = self.components()
        for path in gone:
            self.files.pop((source, path), None)
        for record in records:
            self.files[source, record.path] = record
        self.derived[source, ""] = derived
        self.count_versions(before)

    def remove(self, source: str) -> None:
        before = self.components()
        self.files = {place: record for place, record in self.files.items() if place[0] != source}
        self.derived.pop((source, ""), None)
        self.count_versions(before)

    def count_versions(self, before: dict[str, Component]) -> None:
        now = self.components()
        for key, component in now.items():
            old = before.get(key)
            if old is None:
                self.versions[key] = 1
            elif old.content_hash != component.content_hash:
                self.versions[key] += 1

    def components(self) -> dict[str, Component]:
        return {component.id: component for record in self.files.values() for component in record.components}

    def edges(self) -> dict[tuple[str, ...], tuple[float, str]]:
        """Map (source, file, from, to, relation) to (weight, evidence)."""
        places = {place: record.edges for place, record in self.files.items()} | self.derived
        return {
            (*place, edge.source, edge.target, edge.relation): (edge.weight, edge.evidence)
            for place, edges in places.items()
            for edge in edges
            if edge.source != edge.target
        }

    def types(self) -> dict[str, str]:
        ends = {end for place in self.edges() for end in place[2:4]}
        types = {end: TYPES.get(end.partition(":")[0], "concept") for end in ends}
        return types | dict.fromkeys(self.components(), "component")

    def state(self) -> tuple[object, ...]:
        return self.components(), self.edges(), self.types(), dict(self.versions)


edges = st.lists(
    st.builds(
        Edge,
        st.sampled_from(COMPONENTS + OTHERS),
        st.sampled_from(COMPONENTS + OTHERS),
        st.sampled_from(("provides", "mentions")),
        st.sampled_from((0.5, 1.0)),
        st.sampled_from(("here", "there")),
    ),
    max_size=4,
).map(tuple)


@st.composite
def records(draw: st.DrawFn, source: str, path: str) -> FileRecord:
    components = tuple(
        Component(
            f"{source}:{path}#{name}",
            "skill",
            name,
            description=f"says {word}",
            content_hash=word,
            popularity=draw(st.sampled_from((0.0, 1.0))),
        )
        for name in draw(st.sets(st.sampled_from(("x", "y"))))
        for word in [draw(st.sampled_from(("alpha", "beta")))]
    )
    nodes = tuple(
        Node(key, key.partition(":")[0], key.partition(":")[2])
        for key in draw(st.sets(st.sampled_from(("capability:auth", "pattern:web"))))
    )
    return FileRecord(path, "any", components, nodes, draw(edges))


@st.composite
def steps(draw: st.DrawFn) -> tuple[str, list[FileRecord] | None, list[str], tuple[Edge, ...]]:
    source = draw(st.sampled_from(SOURCES))
    if draw(st.integers(0, 4)) == 0:
        return source, None, [], ()
    fates = {path: draw(st.sampled_from(("write", "leave", "drop"))) for path in FILES}
    written = [draw(records(source, path)) for path, fate in fates.items() if fate == "write"]
    return source, written, [path for path, fate in fates.items() if fate == "drop"], draw(edges)


def apply(store: Store, step: tuple[str, list[FileRecord] | None, list[str], tuple[Edge, ...]]) -> None:
    source, written, gone, derived = step
    if written is None:
        store.sources.remove(source)
    else:
        store.sources.write(SourceInfo(source, "git", source), written, gone, derived=derived, now=NOW)


def check(store: Store, model: Model) -> None:
    topology = store.graph.topology()
    assert dict(zip(topology.keys, topology.types, strict=True)) == model.types()
    ends = list(zip(topology.source.tolist(), topology.target.tolist(), strict=True))
    assert ends == sorted(ends)
    assert Counter(zip(topology.weight.tolist(), topology.relation, strict=True)) == Counter(
        (weight, place[4]) for place, (weight, _) in model.edges().items()
    )
    assert Counter(
        (key, link.other, link.relation, link.weight, link.evidence)
        for key in topology.keys
        for link in store.graph.links(key)
        if link.outgoing
    ) == Counter((*place[2:], *value) for place, value in model.edges().items())
    for key, component in model.components().items():
        found = store.graph.by_key(key)
        assert found is not None
        assert found.source == key.partition(":")[0]
        assert (found.component.description, found.component.popularity) == (
            component.description,
            component.popularity,
        )
        assert found.component.version == model.versions[key]
    for word in ("alpha", "beta"):
        ids = [node_id for node_id, _ in store.graph.match([word], limit=99, weights=(1, 1, 1))]
        keys = {stored.component.id for stored in store.graph.components(ids).values()}
        assert len(keys) == len(ids)
        assert keys == {key for key, component in model.components().items() if word in component.description}
    assert {row.info.key: row.components for row in store.sources.all()} == {
        source: sum(key.startswith(f"{source}:") for key in model.components()) for source, _ in model.derived
    }


@examples(120)
@given(st.lists(steps(), min_size=1, max_size=8))
def test_the_graph_is_what_every_source_said_last(
    sequence: list[tuple[str, list[FileRecord] | None, list[str], tuple[Edge, ...]]],
) -> None:
    with tempfile.TemporaryDirectory() as folder, Store.open(Path(folder) / "repertoire.db") as store:
        model = Model()
        for step in sequence:
            state, revision = model.state(), store.graph.revision()
            ids = dict(zip(store.graph.topology().keys, store.graph.topology().ids.tolist(), strict=True))
            source, written, gone, derived = step
            if written is None:
                model.remove(source)
            else:
                model.write(source, written, gone, derived)

            apply(store, step)

            check(store, model)
            assert (store.graph.revision() != revision) == (model.state() != state), "the revision moves with the graph"
            topology = store.graph.topology()
            for key, node_id in zip(topology.keys, topology.ids.tolist(), strict=True):
                assert ids.get(key, node_id) == node_id, "a node that stays keeps its id"

            revision = store.graph.revision()
            apply(store, step)
            assert store.graph.revision() == revision, "the same again changes nothing"
