"""Writes nodes and edges by their keys, inside one transaction; rows that would not change are not written."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from repertoire.domain.component import (
    BODY_INDEXED,
    COMPONENT,
    CONCEPT,
    REQUEST,
    Component,
    Edge,
    Node,
)
from repertoire.domain.graph import COMPONENTS, STAND_IN, WITH_EDGES, WITH_SOURCE
from repertoire.store.connection import Connection
from repertoire.store.index_words import words_in
from repertoire.store.light.bindings import marks
from repertoire.store.rows import COLUMNS, CONTENT_HASH, VERSION, as_json, row_of, storable
from repertoire.store.vectors import Vectors

Text = tuple[str, str, str]  # the name, description and body of a node, as the full-text index stores them
_TEXT = tuple(COLUMNS.index(column) for column in ("description", "body", "english"))
_ENGLISH = COLUMNS.index("english")


@dataclass(frozen=True)
class Owner:
    """The owner of a node or an edge: a source and one of its files; or no source (id 0) and a label."""

    source_id: int
    file: str


SHARED = Owner(0, "")


@dataclass(frozen=True)
class PreparedComponent:
    """A component converted to rows, before the write lock is taken."""

    key: str
    file: str
    name: str
    row: tuple[object, ...]
    text: Text  # for the full-text index


def prepare(component: Component, file: str) -> PreparedComponent:
    """Convert a component to rows, the part of writing that needs no database."""
    told = component.described
    described = told if component.description in told else f"{component.description} {told}"
    text = words_of(component.name, described, component.body)
    return PreparedComponent(storable(component.id), file, storable(component.name), row_of(component), text)


class GraphWriter:
    """Writes nodes and edges within one transaction, and caches the ids of their keys."""

    def __init__(self, connection: Connection, vectors: Vectors, now: str) -> None:
        self._db = connection
        self._layout = connection.layout
        self._vectors = vectors
        self._now = now
        self._ids: dict[str, int] = {}

    def put_component(self, component: PreparedComponent, source_id: int) -> bool:
        """Write a component, replacing a stand-in if there is one; tell whether anything changed."""
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
            self._update_node(node_id, old_node[0], node, "{}")
            self._insert_component(node_id, component)
            return True
        row = list(component.row)
        row[VERSION] = old_row[VERSION] + (old_row[CONTENT_HASH] != row[CONTENT_HASH])
        if (node, tuple(row)) == (old_node, old_row):
            return False
        self._update_node(node_id, old_node[0], node, "{}")
        columns = ", ".join(f"{column} = ?" for column in COLUMNS)
        self._db.execute(f"UPDATE component SET {columns} WHERE node_id = ?", (*row, node_id))
        if old_node[1] != component.name or any(old_row[at] != row[at] for at in _TEXT):
            self._index_anew(node_id, COMPONENT, component.text)
        if old_row[_ENGLISH] != row[_ENGLISH]:
            self._vectors.drop(node_id)  # they were made of the old translation
        return True

    def put_node(self, node: Node, owner: Owner = SHARED, text: Text | None = None) -> int:
        """Write a node other than a component, with its text if it has one; only a stand-in changes its kind."""
        node_id = self._put(node, owner)
        if text is not None:
            self._index_anew(node_id, node.type, text)
        return node_id

    def _put(self, node: Node, owner: Owner) -> int:
        key, data = storable(node.key), as_json(dict(sorted(node.data.items())))
        row = (node.type, storable(node.name), owner.source_id, storable(owner.file))
        old = self._db.row("SELECT id, type, name, source_id, file, data FROM node WHERE key = ?", (key,))
        if old is None:
            return self._insert_node(key, row, data)
        node_id = int(old[0])
        self._ids[key] = node_id
        if old[1:] != (*row, data) and not self._stays(old[1], node.type):
            self._update_node(node_id, old[1], row, data)
        return node_id

    def _stays(self, old: str, new: str) -> bool:
        """Tell whether a stored node keeps its kind; only a stand-in takes the kind of the new node."""
        return old == COMPONENT or (old != new and old not in self._layout.kinds_forgotten(WITH_EDGES))

    def find(self, key: str) -> int | None:
        """Return the node id of a key, or None."""
        key = storable(key)
        known = self._ids.get(key)
        if known is None:
            known = self._db.value("SELECT id FROM node WHERE key = ?", (key,))
            if known is not None:
                self._ids[key] = known
        return known

    def node_id(self, key: str, relation: str) -> int:
        """Return the node id of an edge's end; write a stand-in, known by its key only, if there is no node yet."""
        known = self.find(key)
        if known is not None:
            return known
        found = self._layout.related(relation)
        return self.put_node(self._stand_in(storable(key), found.views if found else ()))

    def replace_edges(self, owner: Owner, edges: Iterable[Edge]) -> None:
        """Replace the edges of one owner; if a pair and relation occurs twice, the last counts."""
        wanted = {
            (self.node_id(edge.source, edge.relation), self.node_id(edge.target, edge.relation), edge.relation): (
                float(edge.weight),
                storable(edge.evidence),
            )
            for edge in edges
            if edge.source != edge.target
        }
        stale, gone = [], set()
        for edge_id, source, target, relation, *value in self._db.rows(
            "SELECT id, source, target, relation, weight, evidence FROM edge WHERE source_id = ? AND file = ?",
            (owner.source_id, owner.file),
        ):
            if wanted.get((source, target, relation)) == tuple(value):
                del wanted[source, target, relation]
            else:
                stale.append((edge_id,))
                gone.add(relation)
        if stale:
            self._db.executemany("DELETE FROM edge WHERE id = ?", stale)
        if wanted:
            self._db.executemany(
                "INSERT INTO edge(source, target, relation, weight, evidence, source_id, file) "
                "VALUES (?, ?, ?, ?, ?, ?, ?)",
                [(*ends, *value, owner.source_id, owner.file) for ends, value in wanted.items()],
            )
        if stale or wanted:
            self.touch_edges(*{relation for _, _, relation in wanted}, *gone)

    def owned(self, source_id: int, file: str) -> list[tuple[int, str]]:
        """Return the id and key of every node that belongs to a file of a source."""
        brought = self._layout.kinds_forgotten(WITH_SOURCE)
        return self._db.rows(
            f"SELECT id, key FROM node WHERE source_id = ? AND file = ? AND type IN ({marks(brought)})",
            (source_id, file, *brought),
        )

    def release(self, nodes: Sequence[tuple[int, str]]) -> None:
        """Turn nodes into stand-ins without content, after the edges of their owner were deleted.

        A stand-in remains only while an edge of another file or source, or a learned edge, needs it.
        """
        for node_id, key in nodes:
            self._strip(node_id)
            kind = self._db.value("SELECT type FROM node WHERE id = ?", (node_id,))
            stand_in = self._stand_in(key, self._layout.views_of(kind))
            self._db.execute(
                "UPDATE node SET type = ?, name = ?, source_id = ?, file = ?, data = '{}', last_changed = ? "
                "WHERE id = ?",
                (stand_in.type, stand_in.name, SHARED.source_id, SHARED.file, self._now, node_id),
            )
            self.touch_nodes(kind, stand_in.type)

    def rename(self, node_id: int, key: str, file: str) -> None:
        """Give a node another key and file, with the edges of the stand-in that had this key until now."""
        stand_in = self._db.value("SELECT id FROM node WHERE key = ? AND type = ?", (key, STAND_IN))
        if stand_in is not None:  # what the node itself said of its new name would lead to itself
            self._db.execute(
                "UPDATE OR IGNORE edge SET target = ?1 WHERE target = ?2 AND source <> ?1", (node_id, stand_in)
            )
            self.delete([(stand_in, STAND_IN)])
        self._db.execute("UPDATE node SET key = ?, file = ? WHERE id = ?", (key, file, node_id))

    def delete(self, nodes: Iterable[tuple[int, str]]) -> None:
        """Delete nodes, given by id and kind, with their edges, text, vectors and rows."""
        for node_id, kind in nodes:
            self._strip(node_id)
            self._db.execute("DELETE FROM node WHERE id = ?", (node_id,))
            self.touch_nodes(kind)
            self._ids.clear()

    def collect_orphans(self) -> None:
        """Delete the nodes of kinds that exist only for edges, if no source owns them and no edge needs them."""
        needed = self._layout.kinds_forgotten(WITH_EDGES)
        self.delete(
            self._db.rows(
                f"""SELECT id, type FROM node WHERE source_id = 0 AND type IN ({marks(needed)})
                    AND NOT EXISTS (SELECT 1 FROM edge WHERE edge.source = node.id)
                    AND NOT EXISTS (SELECT 1 FROM edge WHERE edge.target = node.id)""",
                needed,
            )
        )

    def of_a_source(self, kind: str) -> bool:
        """Tell whether nodes of this kind come from sources, so that reading the source again restores them."""
        return kind in self._layout.kinds_forgotten(WITH_SOURCE)

    def touch_nodes(self, *kinds: str) -> None:
        """Raise the revisions of the views that read one of these node kinds."""
        self._db.touch(*(view for kind in kinds for view in self._layout.views_of(kind)))

    def touch_edges(self, *relations: str) -> None:
        """Raise the revisions of the views that read one of these relations."""
        known = (self._layout.related(relation) for relation in relations)
        self._db.touch(*(view for relation in known if relation for view in relation.views))

    def _strip(self, node_id: int) -> None:
        """Delete a node's text, vectors and rows in other tables."""
        for table in self._layout.tables:
            if table.node:
                self._db.execute(f"DELETE FROM {table.name} WHERE {table.node} = ?", (node_id,))
        self._vectors.drop(node_id)

    def _stand_in(self, key: str, views: Sequence[str]) -> Node:
        """Return a stand-in: a node known by its key alone, of the kind that the key names, if that kind allows it."""
        named, _, name = key.partition(":")
        kind = self._layout.kind.get(named)
        if kind is not None and kind.stands_in and (name or named == REQUEST):
            return Node(key, named, "" if named == REQUEST else name)
        return Node(key, CONCEPT if COMPONENTS in views else STAND_IN, key)

    def _insert_node(self, key: str, node: tuple[str, str, int, str], data: str) -> int:
        self._db.execute(
            "INSERT INTO node(key, type, name, source_id, file, data, first_seen, last_changed) "
            "VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
            (key, *node, data, self._now, self._now),
        )
        self._ids[key] = self._db.last_id
        self.touch_nodes(node[0])
        return self._ids[key]

    def _update_node(self, node_id: int, old: str, node: tuple[str, str, int, str], data: str) -> None:
        self._db.execute(
            "UPDATE node SET type = ?, name = ?, source_id = ?, file = ?, data = ?, last_changed = ? WHERE id = ?",
            (*node, data, self._now, node_id),
        )
        self.touch_nodes(old, node[0])

    def _insert_component(self, node_id: int, component: PreparedComponent) -> None:
        self._db.execute(f"INSERT INTO component VALUES (?, {marks(COLUMNS)})", (node_id, *component.row))
        self._index(node_id, COMPONENT, component.text)

    def _index(self, node_id: int, kind: str, text: Text) -> None:
        table = self._layout.text_of(kind)
        if table:
            self._db.execute(
                f"INSERT INTO {table}(rowid, name, description, body) VALUES (?, ?, ?, ?)", (node_id, *text)
            )

    def _index_anew(self, node_id: int, kind: str, text: Text) -> None:
        table = self._layout.text_of(kind)
        if (
            not table
            or self._db.row(f"SELECT name, description, body FROM {table} WHERE rowid = ?", (node_id,)) == text
        ):
            return
        self._db.execute(f"DELETE FROM {table} WHERE rowid = ?", (node_id,))
        self._index(node_id, kind, text)
        self.touch_nodes(kind)


def words_of(name: str, description: str = "", body: str = "") -> Text:
    """Return name, description and body split into words for the full-text index."""
    return words_in(name), words_in(description), words_in(body[:BODY_INDEXED])
