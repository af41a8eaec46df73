"""Reads and writes the notes, tasks, epics and procedures of a project's memory, and their links."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from repertoire.domain.component import Edge, Node
from repertoire.domain.graph import STAND_IN
from repertoire.domain.pack import HAS_CHUNK
from repertoire.domain.project import (
    BLOCKS,
    CLOSED,
    ENTRY_CHUNK,
    ENTRY_LINKS,
    FILE,
    KNOWLEDGE,
    SECTION,
    SUPERSEDED,
    SYMBOL,
    Entry,
    EntryLink,
    Item,
    MirroredFile,
)
from repertoire.domain.project_layout import chunk_space, heading_space
from repertoire.store.connection import Connection
from repertoire.store.index_words import English, words_in
from repertoire.store.light.bindings import marks
from repertoire.store.project_texts import text_hash
from repertoire.store.rows import storable, storable_value
from repertoire.store.vectors import Vectors
from repertoire.store.writing import SHARED, GraphWriter, Owner

_SELECT = """SELECT n.id, n.key, e.kind, e.title, e.body, e.tags, e.status, e.priority, e.data, e.version, e.created,
    e.changed FROM entry e JOIN node n ON n.id = e.node_id"""
_FIRST_LINE = 200
# by the owner of all links there is an index, by relation alone there is none
_OF_LINKS = f"e.source_id = {SHARED.source_id} AND e.file = 'links'"


class ProjectEntries:
    """What somebody saved in a project's memory."""

    def __init__(self, connection: Connection, vectors: Vectors, english: English) -> None:
        self._db = connection
        self._vectors = vectors
        self._english = english

    def put(self, entry: Entry, texts: Iterable[str], *, now: str) -> None:
        """Write an entry; `texts` are those that are embedded: its heading, then its pieces."""
        heading, *pieces = (text_hash(text, self._english) for text in texts)
        with self._db.transaction():
            writer = GraphWriter(self._db, self._vectors, now)
            said = " ".join((*entry.tags, *_words_in(entry.data)))
            title, told, body = (words_in(text, self._english) for text in (entry.title, said, entry.body))
            node_id = writer.put_node(Node(entry.key, entry.kind, entry.title), SHARED, (title, told, body))
            row = (entry.kind, entry.title, entry.body, json.dumps(entry.tags), entry.status, entry.priority)
            values = (node_id, *map(storable_value, row), json.dumps(dict(entry.data)), entry.version)
            values = (*values, entry.created, entry.changed)
            self._db.execute(f"INSERT OR REPLACE INTO entry VALUES ({marks(values)})", values)
            self._embed(node_id, heading_space(KNOWLEDGE), heading)
            self._put_chunks(writer, entry.key, pieces)
            self._db.touch(KNOWLEDGE)

    def _put_chunks(self, writer: GraphWriter, key: str, hashes: Sequence[str]) -> None:
        kept, edges = list[str](), list[Edge]()
        for number, digest in enumerate(hashes):
            chunk = f"{ENTRY_CHUNK}:{number}:{key}"
            self._embed(writer.put_node(Node(chunk, ENTRY_CHUNK, ""), SHARED), chunk_space(KNOWLEDGE), digest)
            kept.append(chunk)
            edges.append(Edge(key, chunk, HAS_CHUNK))
        stale = [row for row in self._chunks_of(key) if row[1] not in kept]
        writer.delete([(node_id, ENTRY_CHUNK) for node_id, _ in stale])
        writer.replace_edges(Owner(SHARED.source_id, f"chunks {key}"), edges)

    def _chunks_of(self, key: str) -> list[tuple[int, str]]:
        rows = self._db.rows(
            "SELECT c.id, c.key FROM edge e JOIN node n ON n.id = e.source JOIN node c ON c.id = e.target "
            "WHERE n.key = ? AND e.relation = ?",
            (key, HAS_CHUNK),
        )
        return [(int(node_id), str(chunk)) for node_id, chunk in rows]

    def _embed(self, node_id: int, space: str, digest: str) -> None:
        self._db.execute("INSERT OR REPLACE INTO embedded VALUES (?, ?, ?)", (node_id, space, digest))

    def delete(self, keys: Iterable[str], *, now: str) -> None:
        """Delete entries with their links and pieces."""
        with self._db.transaction():
            writer = GraphWriter(self._db, self._vectors, now)
            for key in keys:
                chunks = [(node_id, ENTRY_CHUNK) for node_id, _ in self._chunks_of(key)]
                row = self._db.row("SELECT id, type FROM node WHERE key = ?", (key,))
                writer.delete([*chunks, *([(int(row[0]), str(row[1]))] if row else [])])
                writer.replace_edges(Owner(SHARED.source_id, f"said {key}"), ())
            writer.collect_orphans()

    def get(self, key: str) -> Entry | None:
        """Return the entry with this key, or None."""
        row = self._db.row(f"{_SELECT} WHERE n.key = ?", (key,))
        return None if row is None else _entry(row)

    def starting(self, prefix: str) -> list[Entry]:
        """Return the entries whose id, with or without its kind, starts with these characters."""
        rows = self._db.rows(
            f"{_SELECT} WHERE substr(n.key, 1, length(?1)) = ?1 "
            "OR substr(n.key, instr(n.key, ':') + 1, length(?1)) = ?1 ORDER BY n.key LIMIT 5",
            (prefix,),
        )
        return [_entry(row) for row in rows]

    def all(self, kinds: Sequence[str]) -> list[Entry]:
        """Return the entries of some kinds: the most urgent first, then the newest."""
        rows = self._db.rows(
            f"{_SELECT} WHERE e.kind IN ({marks(kinds)}) ORDER BY e.priority, e.changed DESC, n.key", kinds
        )
        return [_entry(row) for row in rows]

    def by_node(self, node_ids: Iterable[int]) -> dict[int, Entry]:
        """Map node ids to entries; an id of something else is left out."""
        return {int(row[0]): _entry(row) for row in self._db.of_nodes(_SELECT, node_ids)}

    def link(self, links: Iterable[EntryLink], *, now: str) -> None:
        """Add links; the end of one that lies in another file becomes a stand-in."""
        with self._db.transaction():
            writer = GraphWriter(self._db, self._vectors, now)
            for one in links:
                ends = (writer.node_id(one.source, one.relation), writer.node_id(one.target, one.relation))
                self._db.execute(
                    "INSERT OR IGNORE INTO edge(source, target, relation, weight, evidence, source_id, file) "
                    "VALUES (?, ?, ?, 1.0, '', ?, 'links')",
                    (*ends, one.relation, SHARED.source_id),
                )
                writer.touch_edges(one.relation)

    def unlink(self, link: EntryLink, *, now: str) -> bool:
        """Delete a link; tell whether there was one."""
        with self._db.transaction():
            known = link in self.links(link.source)
            self._db.execute(
                f"""DELETE FROM edge AS e WHERE relation = ?1 AND {_OF_LINKS} AND source IN
                   (SELECT id FROM node WHERE key = ?2) AND target IN (SELECT id FROM node WHERE key = ?3)""",
                (link.relation, link.source, link.target),
            )
            writer = GraphWriter(self._db, self._vectors, now)
            writer.touch_edges(link.relation)
            writer.collect_orphans()
        return known

    def links(self, key: str = "", *, relation: str = "") -> list[EntryLink]:
        """Return the links from and to a node, or all links of entries; with a relation, only these."""
        where = "AND ?1 IN (a.key, b.key)" if key else "AND ?1 = ''"
        rows = self._db.rows(
            f"""SELECT a.key, e.relation, b.key FROM edge e
                JOIN node a ON a.id = e.source JOIN node b ON b.id = e.target
                WHERE {_OF_LINKS} AND ?2 IN ('', e.relation) {where} ORDER BY e.id""",
            (key, relation),
        )
        return [EntryLink(*map(str, row)) for row in rows]

    def missing_ends(self, key: str) -> list[str]:
        """Return the files, symbols and sections that an entry is linked with and that are not in the project now."""
        rows = self._db.rows(
            f"""SELECT DISTINCT b.key FROM edge e JOIN node a ON a.id = e.source JOIN node b ON b.id = e.target
                WHERE a.key = ? AND b.type = ? AND {_OF_LINKS} ORDER BY 1""",
            (key, STAND_IN),
        )
        return [str(end) for (end,) in rows if str(end).partition(":")[0] in (FILE, SYMBOL, SECTION)]

    def stand_ins(self, kind: str) -> list[str]:
        """Return the keys of one kind that entries are linked with and that lie in another file."""
        rows = self._db.rows("SELECT key FROM node WHERE type = ? AND key GLOB ? ORDER BY key", (STAND_IN, f"{kind}:*"))
        return [str(key) for (key,) in rows]

    def unlink_gone(self, *, before: str, now: str) -> list[EntryLink]:
        """Delete the links with files, symbols and sections that went before some time and did not come back."""
        ends = f"""SELECT a.key, e.relation, b.key, e.id FROM edge e JOIN node a ON a.id = e.source
            JOIN node b ON b.id = e.target WHERE {_OF_LINKS} AND b.type = ? AND b.last_changed < ?"""
        kinds = (FILE, SECTION, SYMBOL)
        gone = [row for row in self._db.rows(ends, (STAND_IN, before)) if str(row[2]).partition(":")[0] in kinds]
        self._unlink([int(row[3]) for row in gone], now=now)
        return [EntryLink(*map(str, row[:3])) for row in gone]

    def unlink_all(self, key: str, *, now: str) -> None:
        """Delete the links from and to a node, and the node if nothing else needs it."""
        sql = f"SELECT e.id FROM edge e JOIN node n ON n.id IN (e.source, e.target) WHERE {_OF_LINKS} AND n.key = ?"
        self._unlink([int(row[0]) for row in self._db.rows(sql, (key,))], now=now)

    def _unlink(self, edges: Sequence[int], *, now: str) -> None:
        if not edges:
            return
        with self._db.transaction():
            self._db.executemany("DELETE FROM edge WHERE id = ?", [(one,) for one in edges])
            writer = GraphWriter(self._db, self._vectors, now)
            writer.touch_edges(*ENTRY_LINKS)
            writer.collect_orphans()

    def twins(self, entry: Entry) -> list[str]:
        """Return the other entries with the same kind, title and text that are neither done nor superseded."""
        over = (*CLOSED, SUPERSEDED)
        rows = self._db.rows(
            f"""SELECT n.key FROM entry e JOIN node n ON n.id = e.node_id
               WHERE e.title = ? AND e.kind = ? AND e.body = ? AND n.key <> ? AND e.status NOT IN ({marks(over)})
               ORDER BY 1""",
            (storable(entry.title), entry.kind, storable(entry.body), entry.key, *over),
        )
        return [str(key) for (key,) in rows]

    def nodes(self, kinds: Iterable[str]) -> set[int]:
        """Return the node ids of the entries of some kinds."""
        wanted = list(kinds)
        rows = self._db.rows(f"SELECT node_id FROM entry WHERE kind IN ({marks(wanted)})", wanted)
        return {int(node_id) for (node_id,) in rows}

    def linked(self) -> list[tuple[int, str, int]]:
        """Return all links of entries as node ids with the relation between them."""
        rows = self._db.rows(f"SELECT source, relation, target FROM edge e WHERE {_OF_LINKS}")
        return [(int(source), str(relation), int(target)) for source, relation, target in rows]

    def mirrored(self) -> dict[str, MirroredFile]:
        """Map entries to their files as both were when they were last the same."""
        rows = self._db.rows("SELECT entry, path, told, file FROM mirror ORDER BY entry")
        return {str(key): MirroredFile(*map(str, row)) for key, *row in rows}

    def set_mirrored(self, files: Mapping[str, MirroredFile]) -> None:
        """Record the files of all entries."""
        with self._db.transaction():
            self._db.execute("DELETE FROM mirror")
            self._db.executemany(
                "INSERT INTO mirror VALUES (?, ?, ?, ?)",
                [(key, storable(one.path), one.told, one.file) for key, one in sorted(files.items())],
            )

    def blocking(self) -> list[tuple[str, str]]:
        """Return which task blocks which."""
        return [(one.source, one.target) for one in self.links(relation=BLOCKS)]


def item_of(entry: Entry) -> Item:
    """Return an entry as answers say it first."""
    lines = (line.strip() for line in entry.body.split("\n"))
    first = next((line[:_FIRST_LINE] for line in lines if line), "")
    told = [str(entry.data["category"])] if entry.data.get("category") else []
    return Item(entry.key, entry.kind, entry.title, line=first, doc=", ".join([*told, entry.status, *entry.tags]))


def _words_in(data: Mapping[str, Any]) -> list[str]:
    return [str(word) for value in data.values() for word in (value if isinstance(value, list) else [value])]


def _entry(row: Sequence[Any]) -> Entry:
    _, key, kind, title, body, tags, status, priority, data, version, created, changed = row
    return Entry(
        str(key),
        str(kind),
        str(title),
        str(body),
        tuple(json.loads(tags)),
        str(status),
        int(priority),
        json.loads(data),
        int(version),
        str(created),
        str(changed),
    )
