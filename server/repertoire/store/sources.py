"""Writes what sources yield, one transaction a source: a file that did not change is not touched."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
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
    FileRecord,
    Node,
    SourceInfo,
)
from repertoire.domain.text import index_text
from repertoire.store.connection import Connection
from repertoire.store.vectors import Vectors

_SHARED = 0  # the owner of nodes that belong to no source
_STAND_INS = {CAPABILITY, PATTERN, REQUEST, REQUIREMENT, CONCEPT}


@dataclass(frozen=True)
class SourceRow:
    """A source as the store knows it."""

    id: int
    info: SourceInfo
    added_at: str
    ingested_at: str
    components: int
    skipped: int


@dataclass(frozen=True)
class Written:
    """What a write changed, counted in components."""

    changed: int
    removed: int
    total: int


class Sources:
    """The sources of the graph and the files that each was made from."""

    def __init__(self, connection: Connection, vectors: Vectors) -> None:
        self._db = connection
        self._vectors = vectors

    def all(self) -> list[SourceRow]:
        """Return every source with its counts, oldest first."""
        rows = self._db.rows(
            """SELECT s.id, s.key, s.kind, s.location, s.repository, s.commit_sha, s.added_at, s.ingested_at,
                 (SELECT count(*) FROM node n WHERE n.source_id = s.id AND n.type = 'component'),
                 (SELECT count(*) FROM file f WHERE f.source_id = s.id AND f.skipped <> '')
               FROM source s ORDER BY s.id"""
        )
        return [SourceRow(row[0], SourceInfo(*row[1:6]), row[6], row[7], row[8], row[9]) for row in rows]

    def file_hashes(self, source: str) -> dict[str, str]:
        """Map every file of a source to the content hash it was last read with."""
        return dict(
            self._db.rows(
                "SELECT f.path, f.content_hash FROM file f JOIN source s ON s.id = f.source_id WHERE s.key = ?",
                (source,),
            )
        )

    def skipped(self, source: str) -> list[tuple[str, str]]:
        """Return the files of a source that were left out, with the reasons."""
        return self._db.rows(
            """SELECT f.path, f.skipped FROM file f JOIN source s ON s.id = f.source_id
               WHERE s.key = ? AND f.skipped <> '' ORDER BY f.path""",
            (source,),
        )

    def write(
        self,
        info: SourceInfo,
        records: Iterable[FileRecord],
        gone: Iterable[str],
        *,
        derived: Sequence[Edge],
        now: str,
    ) -> Written:
        """Write the changed files of a source, drop the gone ones and replace its derived edges; all or nothing.

        `derived` are the edges found by looking at the source as a whole (names mentioned, siblings in a plugin): those
        that stayed the same are left alone.
        """
        with self._db.transaction():
            owner = self._upsert_source(info, now)
            removed = sum(self._drop_file(owner, path) for path in gone)
            edges: list[tuple[str, Edge]] = []
            changed = 0
            for record in records:
                count, stale = self._write_record(owner, record, now)
                changed += count
                removed += stale
                edges.extend((record.path, edge) for edge in record.edges)
            for path, edge in edges:  # after every node: an edge may point at a file written later
                self._insert_edge(owner, path, edge, now)
            self._replace_derived(owner, derived, now)
            self._collect_orphans()
            total = self._db.value("SELECT count(*) FROM node WHERE source_id = ? AND type = 'component'", (owner,))
        return Written(changed, removed, total)

    def remove(self, source: str) -> bool:
        """Remove a source with exactly what it brought; tell whether there was one."""
        with self._db.transaction():
            owner = self._db.value("SELECT id FROM source WHERE key = ?", (source,))
            if owner is None:
                return False
            for (path,) in self._db.rows(
                "SELECT path FROM file WHERE source_id = ? UNION SELECT DISTINCT file FROM node WHERE source_id = ?",
                (owner, owner),
            ):
                self._drop_file(owner, path)
            self._db.execute("DELETE FROM edge WHERE source_id = ?", (owner,))
            self._db.execute("DELETE FROM source WHERE id = ?", (owner,))
            self._collect_orphans()
            self._db.touch()
        return True

    def set_edges(self, edges: Sequence[Edge], *, now: str, file: str) -> None:
        """Replace the edges that no source owns and that carry this label (`file`) with these."""
        with self._db.transaction():
            self._replace(_SHARED, file, edges, now)
            self._collect_orphans()

    def add_node(self, node: Node, *, now: str) -> None:
        """Add or update a node that no source owns."""
        with self._db.transaction():
            self._upsert_node(_SHARED, "", node.key, node.type, node.name, node.data, now)

    def _upsert_source(self, info: SourceInfo, now: str) -> int:
        self._db.execute(
            """INSERT INTO source(key, kind, location, repository, commit_sha, added_at, ingested_at)
               VALUES (?, ?, ?, ?, ?, ?, ?)
               ON CONFLICT(key) DO UPDATE SET kind = excluded.kind, location = excluded.location,
                 repository = excluded.repository, commit_sha = excluded.commit_sha, ingested_at = excluded.ingested_at""",
            (info.key, info.kind, info.location, info.repository, info.commit, now, now),
        )
        return int(self._db.value("SELECT id FROM source WHERE key = ?", (info.key,)))

    def _write_record(self, owner: int, record: FileRecord, now: str) -> tuple[int, int]:
        self._db.execute(
            "INSERT INTO file VALUES (?, ?, ?, ?) ON CONFLICT DO UPDATE SET content_hash = excluded.content_hash, "
            "skipped = excluded.skipped",
            (owner, record.path, record.content_hash, record.skipped),
        )
        self._db.execute("DELETE FROM edge WHERE source_id = ? AND file = ?", (owner, record.path))
        if self._db.changes():
            self._db.touch()
        kept = {component.id for component in record.components} | {node.key for node in record.nodes}
        stale = [
            (node_id, kind)
            for node_id, key, kind in self._db.rows(
                "SELECT id, key, type FROM node WHERE source_id = ? AND file = ?", (owner, record.path)
            )
            if key not in kept
        ]
        for node_id, _ in stale:
            self._drop_node(owner, node_id)
        for component in record.components:
            self._write_component(owner, record.path, component, now)
        for node in record.nodes:
            self._upsert_node(_SHARED, "", node.key, node.type, node.name, node.data, now)
        return len(record.components), sum(kind == COMPONENT for _, kind in stale)

    def _write_component(self, owner: int, path: str, component: Component, now: str) -> None:
        node_id = self._upsert_node(owner, path, component.id, COMPONENT, component.name, {}, now)
        before = self._db.row("SELECT content_hash, version FROM component WHERE node_id = ?", (node_id,))
        version = component.version
        if before is not None:
            version = before[1] + (before[0] != component.content_hash)
        self._db.execute(
            f"INSERT OR REPLACE INTO component VALUES ({', '.join('?' * 20)})",
            (
                node_id,
                component.type,
                component.description,
                component.body,
                component.code,
                json.dumps(component.examples),
                json.dumps(dict(component.front_matter), default=str),
                json.dumps(component.allowed_tools),
                component.repository,
                component.path,
                component.plugin,
                component.marketplace,
                component.licence,
                component.content_hash,
                component.first_commit,
                component.last_commit,
                int(component.installed),
                json.dumps(component.install),
                component.popularity,
                version,
            ),
        )
        self._db.execute("DELETE FROM component_text WHERE rowid = ?", (node_id,))
        self._db.execute(
            "INSERT INTO component_text(rowid, name, description, body) VALUES (?, ?, ?, ?)",
            (
                node_id,
                index_text(component.name),
                index_text(component.description),
                index_text(component.body[:BODY_INDEXED]),
            ),
        )

    def _upsert_node(
        self, owner: int, path: str, key: str, kind: str, name: str, data: Mapping[str, object], now: str
    ) -> int:
        """Write a node and return its id; a stand-in never overwrites a component that has the same key."""
        found = self._db.row("SELECT id, type, source_id, file, name, data FROM node WHERE key = ?", (key,))
        text = json.dumps(dict(data), sort_keys=True)
        if found is None:
            self._db.execute(
                "INSERT INTO node(key, type, name, source_id, file, data, first_seen, last_changed) "
                "VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
                (key, kind, name, owner, path, text, now, now),
            )
            self._db.touch()
            return self._db.last_id
        node_id = int(found[0])
        if found[1] == COMPONENT and kind != COMPONENT:
            return node_id
        if kind == COMPONENT or (kind, name, text) != (found[1], found[4], found[5]):
            self._db.execute(
                "UPDATE node SET type = ?, name = ?, source_id = ?, file = ?, data = ?, last_changed = ? WHERE id = ?",
                (kind, name, owner, path, text, now, node_id),
            )
            self._db.touch()
        return node_id

    def _resolve(self, key: str, now: str) -> int:
        node_id = self._db.value("SELECT id FROM node WHERE key = ?", (key,))
        if node_id is not None:
            return int(node_id)
        kind, _, name = key.partition(":")
        if kind not in _STAND_INS or not name:
            kind, name = CONCEPT, key
        return self._upsert_node(_SHARED, "", key, kind, name, {}, now)

    def _insert_edge(self, owner: int, path: str, edge: Edge, now: str) -> None:
        source, target = self._resolve(edge.source, now), self._resolve(edge.target, now)
        if source == target:
            return
        self._db.execute(
            """INSERT INTO edge(source, target, relation, weight, evidence, source_id, file) VALUES (?, ?, ?, ?, ?, ?, ?)
               ON CONFLICT DO UPDATE SET weight = excluded.weight, evidence = excluded.evidence""",
            (source, target, edge.relation, edge.weight, edge.evidence, owner, path),
        )
        self._db.touch()

    def _replace_derived(self, owner: int, edges: Sequence[Edge], now: str) -> None:
        self._replace(owner, "", edges, now)

    def _replace(self, owner: int, label: str, edges: Sequence[Edge], now: str) -> None:
        before = {
            (source, target, relation): (edge_id, weight, evidence)
            for edge_id, source, target, relation, weight, evidence in self._db.rows(
                """SELECT e.id, a.key, b.key, e.relation, e.weight, e.evidence FROM edge e
                   JOIN node a ON a.id = e.source JOIN node b ON b.id = e.target
                   WHERE e.source_id = ? AND e.file = ?""",
                (owner, label),
            )
        }
        for edge in edges:
            old = before.pop((edge.source, edge.target, edge.relation), None)
            if old is None or old[1:] != (edge.weight, edge.evidence):
                self._insert_edge(owner, label, edge, now)
        for edge_id, _, _ in before.values():
            self._db.execute("DELETE FROM edge WHERE id = ?", (edge_id,))
            self._db.touch()

    def _drop_file(self, owner: int, path: str) -> int:
        """Forget a file with its nodes and edges; return how many components it held."""
        nodes = self._db.rows("SELECT id, type FROM node WHERE source_id = ? AND file = ?", (owner, path))
        self._db.execute("DELETE FROM edge WHERE source_id = ? AND file = ?", (owner, path))
        for node_id, _ in nodes:
            self._drop_node(owner, node_id)
        self._db.execute("DELETE FROM file WHERE source_id = ? AND path = ?", (owner, path))
        if nodes:
            self._db.touch()
        return sum(kind == COMPONENT for _, kind in nodes)

    def _drop_node(self, owner: int, node_id: int) -> None:
        self._db.execute("DELETE FROM component_text WHERE rowid = ?", (node_id,))
        self._vectors.drop(node_id)
        # An edge that another source (or learning) owns keeps its end, as a stand-in, until its owner lets go.
        kept = self._db.value(
            "SELECT 1 FROM edge WHERE source_id <> ? AND (source = ? OR target = ?) LIMIT 1",
            (owner, node_id, node_id),
        )
        if kept:
            self._db.execute("DELETE FROM component WHERE node_id = ?", (node_id,))
            self._db.execute("UPDATE node SET type = ?, source_id = 0, file = '' WHERE id = ?", (CONCEPT, node_id))
        else:
            self._db.execute("DELETE FROM node WHERE id = ?", (node_id,))
        self._db.touch()

    def _collect_orphans(self) -> None:
        self._db.execute(
            """DELETE FROM node WHERE source_id = 0 AND type NOT IN ('component', 'request')
               AND NOT EXISTS (SELECT 1 FROM edge WHERE edge.source = node.id)
               AND NOT EXISTS (SELECT 1 FROM edge WHERE edge.target = node.id)"""
        )
        if self._db.changes():
            self._db.touch()
