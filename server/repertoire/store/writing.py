"""Writes nodes and edges by their keys, inside one transaction: what is equal already is not written again."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from repertoire.domain.component import (
    BODY_INDEXED,
    CAPABILITY,
    COMPONENT,
    CONCEPT,
    PATTERN,
    REQUEST,
    REQUIREMENT,
    Component,
    Edge,
    Node,
)
from repertoire.domain.text import index_text
from repertoire.store.connection import Connection
from repertoire.store.rows import COLUMNS, CONTENT_HASH, VERSION, as_json, row_of, storable
from repertoire.store.vectors import Vectors

_STAND_INS = frozenset({CAPABILITY, PATTERN, REQUEST, REQUIREMENT, CONCEPT})
_TEXT = tuple(COLUMNS.index(column) for column in ("description", "body"))


@dataclass(frozen=True)
class Owner:
    """Whose a node or an edge is: a source (0: nobody's, shared) and one of its files, or a label."""

    source_id: int
    file: str


SHARED = Owner(0, "")


@dataclass(frozen=True)
class Prepared:
    """A component ready to be written: all that needs no lock is done before the lock is taken."""

    key: str
    file: str
    name: str
    row: tuple[object, ...]
    text: tuple[str, str, str]  # as the full-text index stores it


def prepare(component: Component, file: str) -> Prepared:
    """Do the part of writing a component that needs no database."""
    text = (index_text(component.name), index_text(component.description), index_text(component.body[:BODY_INDEXED]))
    return Prepared(storable(component.id), file, storable(component.name), row_of(component), text)


class GraphWriter:
    """Nodes and edges to write, for the length of one transaction: it remembers the ids of the keys it met."""

    def __init__(self, connection: Connection, vectors: Vectors, now: str) -> None:
        self._db = connection
        self._vectors = vectors
        self._now = now
        self._ids: dict[str, int] = {}

    def put_component(self, component: Prepared, source_id: int) -> bool:
        """Write a component, in place of a stand-in where there is one; tell whether anything was new."""
        old = self._db.row(
            f"SELECT n.id, n.type, n.name, n.source_id, n.file, {', '.join('c.' + column for column in COLUMNS)} "
            "FROM node n LEFT JOIN component c ON c.node_id = n.id WHERE n.key = ?",
            (component.key,),
        )
        node = (COMPONENT, component.name, source_id, component.file)
        if old is None:
            node_id = self._insert_node(component.key, node, "{}")
            self._insert_component(node_id, component)
            return True
        node_id, old_node, old_row = int(old[0]), old[1:5], old[5:]
        self._ids[component.key] = node_id
        if old_row[VERSION] is None:
            self._update_node(node_id, node, "{}")
            self._insert_component(node_id, component)
            return True
        row = list(component.row)
        row[VERSION] = old_row[VERSION] + (old_row[CONTENT_HASH] != row[CONTENT_HASH])
        if (node, tuple(row)) == (old_node, old_row):
            return False
        self._update_node(node_id, node, "{}")
        columns = ", ".join(f"{column} = ?" for column in COLUMNS)
        self._db.execute(f"UPDATE component SET {columns} WHERE node_id = ?", (*row, node_id))
        if old_node[1] != component.name or any(old_row[at] != row[at] for at in _TEXT):
            self._db.execute("DELETE FROM component_text WHERE rowid = ?", (node_id,))
            self._index(node_id, component)
        return True

    def put_node(self, node: Node) -> int:
        """Write a node that no source owns; one that is a component by now stays as it is."""
        key, data = storable(node.key), as_json(dict(sorted(node.data.items())))
        row = (node.type, storable(node.name), SHARED.source_id, SHARED.file)
        old = self._db.row("SELECT id, type, name, source_id, file, data FROM node WHERE key = ?", (key,))
        if old is None:
            return self._insert_node(key, row, data)
        node_id = int(old[0])
        self._ids[key] = node_id
        if old[1] != COMPONENT and old[1:] != (*row, data):
            self._update_node(node_id, row, data)
        return node_id

    def find(self, key: str) -> int | None:
        """Return the id of a key, or None."""
        key = storable(key)
        known = self._ids.get(key)
        if known is None:
            known = self._db.value("SELECT id FROM node WHERE key = ?", (key,))
            if known is not None:
                self._ids[key] = known
        return known

    def node_id(self, key: str) -> int:
        """Return the id of a key; one that nothing has brought yet becomes a stand-in, known by its name only."""
        known = self.find(key)
        return self.put_node(_stand_in(storable(key))) if known is None else known

    def replace_edges(self, owner: Owner, edges: Iterable[Edge]) -> None:
        """Make these the edges of one owner; where one pair and relation comes twice, the last counts."""
        wanted = {
            (self.node_id(edge.source), self.node_id(edge.target), edge.relation): (
                float(edge.weight),
                storable(edge.evidence),
            )
            for edge in edges
            if edge.source != edge.target
        }
        stale = []
        for edge_id, source, target, relation, *value in self._db.rows(
            "SELECT id, source, target, relation, weight, evidence FROM edge WHERE source_id = ? AND file = ?",
            (owner.source_id, owner.file),
        ):
            if wanted.get((source, target, relation)) == tuple(value):
                del wanted[source, target, relation]
            else:
                stale.append((edge_id,))
        if stale:
            self._db.executemany("DELETE FROM edge WHERE id = ?", stale)
        if wanted:
            self._db.executemany(
                "INSERT INTO edge(source, target, relation, weight, evidence, source_id, file) "
                "VALUES (?, ?, ?, ?, ?, ?, ?)",
                [(*ends, *value, owner.source_id, owner.file) for ends, value in wanted.items()],
            )
        if stale or wanted:
            self._db.touch()

    def drop_components(self, nodes: Sequence[tuple[int, str]]) -> None:
        """Drop components by id and key, once their owner's edges are gone.

        One that an edge still needs (another file's, another source's, a learned one) stays as a stand-in.
        """
        for node_id, key in nodes:
            self._db.execute("DELETE FROM component_text WHERE rowid = ?", (node_id,))
            self._db.execute("DELETE FROM component WHERE node_id = ?", (node_id,))
            self._vectors.drop(node_id)
            stand_in = _stand_in(key)
            self._db.execute(
                "UPDATE node SET type = ?, name = ?, source_id = ?, file = ? WHERE id = ?",
                (stand_in.type, stand_in.name, SHARED.source_id, SHARED.file, node_id),
            )
            self._db.touch()

    def collect_orphans(self) -> None:
        """Delete the nodes that no source owns and no edge needs; past requests stay."""
        self._db.execute(
            """DELETE FROM node WHERE source_id = 0 AND type NOT IN ('component', 'request')
               AND NOT EXISTS (SELECT 1 FROM edge WHERE edge.source = node.id)
               AND NOT EXISTS (SELECT 1 FROM edge WHERE edge.target = node.id)"""
        )
        if self._db.changes():
            self._ids.clear()
            self._db.touch()

    def _insert_node(self, key: str, node: tuple[str, str, int, str], data: str) -> int:
        self._db.execute(
            "INSERT INTO node(key, type, name, source_id, file, data, first_seen, last_changed) "
            "VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
            (key, *node, data, self._now, self._now),
        )
        self._db.touch()
        self._ids[key] = self._db.last_id
        return self._ids[key]

    def _update_node(self, node_id: int, node: tuple[str, str, int, str], data: str) -> None:
        self._db.execute(
            "UPDATE node SET type = ?, name = ?, source_id = ?, file = ?, data = ?, last_changed = ? WHERE id = ?",
            (*node, data, self._now, node_id),
        )
        self._db.touch()

    def _insert_component(self, node_id: int, component: Prepared) -> None:
        marks = ", ".join("?" * (len(COLUMNS) + 1))
        self._db.execute(f"INSERT INTO component VALUES ({marks})", (node_id, *component.row))
        self._index(node_id, component)

    def _index(self, node_id: int, component: Prepared) -> None:
        self._db.execute(
            "INSERT INTO component_text(rowid, name, description, body) VALUES (?, ?, ?, ?)",
            (node_id, *component.text),
        )


def _stand_in(key: str) -> Node:
    kind, _, name = key.partition(":")
    if kind == REQUEST:
        return Node(key, kind, "")
    return Node(key, kind, name) if kind in _STAND_INS and name else Node(key, CONCEPT, key)
