"""Writes the components and edges of sources, one transaction for each source; an unchanged file is not written."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from repertoire.domain.component import CAPABILITY, CURATOR, PROVIDES, Edge, FileRecord, Node, SourceInfo
from repertoire.domain.errors import SourceForgotten
from repertoire.domain.event import LEFT
from repertoire.domain.graph import COMPONENTS, WITH_EDGES, WITH_SOURCE
from repertoire.store.connection import Connection
from repertoire.store.light.elsewhere import PROJECTS, elsewhere
from repertoire.store.rows import storable
from repertoire.store.vectors import Vectors
from repertoire.store.writing import SHARED, GraphWriter, Owner, Text, prepare

_UNSETTLED = "unsettled"
# The plus: by the index of types all components were read for each source, a second of the processor for 80 of 20,000.
SOURCES = """SELECT s.key, s.kind, s.location, s.repository, s.commit_sha, s.added_at, s.ingested_at,
      (SELECT count(*) FROM node n WHERE n.source_id = s.id AND +n.type = 'component'),
      (SELECT count(*) FROM file f WHERE f.source_id = s.id AND f.skipped <> ''), s.given
    FROM source s ORDER BY s.id"""


@dataclass(frozen=True)
class SourceRow:
    """A stored source."""

    info: SourceInfo
    added_at: str
    ingested_at: str
    components: int
    skipped: int
    given: str = ""  # the address that a person ingested, while Claude Code's clone is read in its place


@dataclass(frozen=True)
class Written:
    """The numbers of components that a write changed (or added) and deleted."""

    changed: int
    removed: int


class Sources:
    """Reads and writes the sources of the graph and the files of each."""

    def __init__(self, connection: Connection, vectors: Vectors) -> None:
        self._db = connection
        self._vectors = vectors

    def all(self) -> list[SourceRow]:
        """Return every source with its counts, the oldest first."""
        rows = self._db.rows(SOURCES)
        return [SourceRow(SourceInfo(*row[:5]), *row[5:]) for row in rows]

    def is_known(self, source: str) -> bool:
        """Tell whether there is a source with this key."""
        return self._db.value("SELECT id FROM source WHERE key = ?", (source,)) is not None

    def elsewhere(self, project: str) -> frozenset[str]:
        """Return the keys of the sources that are other projects' own: what they hold is not loaded in this one."""
        return frozenset(elsewhere(self._db.rows(PROJECTS), project))

    def file_hashes(self, source: str) -> dict[str, str]:
        """Map every file of a source to its content hash at the last reading."""
        return dict(
            self._db.rows(
                "SELECT f.path, f.content_hash FROM file f JOIN source s ON s.id = f.source_id WHERE s.key = ?",
                (source,),
            )
        )

    def seen(self, source: str, *, now: str) -> None:
        """Record that a source was read and had not changed."""
        with self._db.transaction():
            self._db.execute("UPDATE source SET ingested_at = ? WHERE key = ?", (now, source))

    def set_popularity(self, values: Mapping[int, float]) -> None:
        """Write the popularity of components, by node id; unchanged values are not written."""
        with self._db.transaction():
            known = dict(self._db.rows("SELECT node_id, popularity FROM component"))
            moved = [(value, node) for node, value in values.items() if known.get(node, value) != value]
            self._db.executemany("UPDATE component SET popularity = ? WHERE node_id = ?", moved)
            if moved:
                self._db.touch(COMPONENTS)

    def skipped(self, source: str) -> list[tuple[str, str]]:
        """Return the skipped files of a source, with the reasons."""
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
        known_as: str = "",
    ) -> Written:
        """Write the changed files of a source, delete the removed ones, replace its derived edges: in one transaction.

        `derived` are edges that follow from the source as a whole (names mentioned, siblings in a plugin). Data
        equal to the stored data is not written. An id belongs to one file: if it occurs twice, the last counts. Records
        are read to their end before the lock is taken.

        Raises:
            SourceForgotten: it was `known_as` this key, and nobody knows that any more.
        """
        files = {storable(record.path): record for record in records}
        dropped = [path for path in map(storable, gone) if path not in files]
        components = {
            component.id: prepare(component, path) for path, record in files.items() for component in record.components
        }
        with self._db.transaction():
            if known_as and not self.is_known(known_as):
                message = f"{info.key} was removed while it was read"
                raise SourceForgotten(message)
            writer = GraphWriter(self._db, self._vectors, now)
            owner = self._upsert_source(info, now)
            changed = sum([writer.put_component(component, owner) for component in components.values()])
            self._write_files(owner, files)
            self._write_edges(writer, owner, files, derived)
            for path in dropped:
                writer.replace_edges(Owner(owner, path), ())
            kept = {component.key for component in components.values()}
            kept.update(storable(node.key) for record in files.values() for node in record.nodes)
            stale = [
                (node_id, key)
                for path in (*files, *dropped)
                for node_id, key in writer.owned(owner, path)
                if key not in kept
            ]
            self._remember(stale)
            writer.release(stale)
            self._db.executemany(
                "DELETE FROM file WHERE source_id = ? AND path = ?", [(owner, path) for path in dropped]
            )
            writer.collect_orphans()
            if changed or stale:
                self._unsettle()
        return Written(changed, len(stale))

    def remove(self, source: str) -> bool:
        """Remove a source with exactly its own nodes and edges; tell whether there was one."""
        with self._db.transaction():
            owner = self._db.value("SELECT id FROM source WHERE key = ?", (source,))
            if owner is None:
                return False
            writer = GraphWriter(self._db, self._vectors, "")
            writer.touch_edges(
                *(row[0] for row in self._db.rows("SELECT DISTINCT relation FROM edge WHERE source_id = ?", (owner,)))
            )
            self._db.execute("DELETE FROM edge WHERE source_id = ?", (owner,))
            stale = self._db.rows("SELECT id, key FROM node WHERE source_id = ?", (owner,))
            self._remember(stale)
            writer.release(stale)
            self._db.execute("DELETE FROM source WHERE id = ?", (owner,))
            writer.collect_orphans()
            self._unsettle()
        return True

    def unsettled(self) -> int:
        """Return the number of the last change for which the edges across sources were not computed yet; 0 if none."""
        return int(self._db.meta(_UNSETTLED) or 0)

    def settled(self, number: int) -> None:
        """Record that the edges across sources include the change with this number; later changes stay open."""
        with self._db.transaction():
            self._db.execute("UPDATE meta SET value = 0 WHERE key = ? AND value = ?", (_UNSETTLED, number))

    def set_edges(self, edges: Sequence[Edge], *, now: str, file: str) -> None:
        """Replace the edges that belong to no source and have this label (`file`).

        Edges whose label begins with `learned` are deleted with the requests.
        """
        with self._db.transaction():
            writer = GraphWriter(self._db, self._vectors, now)
            writer.replace_edges(Owner(SHARED.source_id, file), edges)
            writer.collect_orphans()

    def curate(self, component: str, terms: Iterable[str], *, now: str) -> None:
        """Make these the only capabilities of a component, by a curator's word, in place of those that were found."""
        label = f"{CURATOR}:{component}"
        with self._db.transaction():
            own = "source = (SELECT id FROM node WHERE key = ?) AND relation = ? AND file <> ?"
            self._db.execute(f"DELETE FROM edge WHERE {own}", (storable(component), PROVIDES, label))
            if self._db.changes():
                GraphWriter(self._db, self._vectors, now).touch_edges(PROVIDES)
            edges = [Edge(component, f"{CAPABILITY}:{term}", PROVIDES, 1.0, CURATOR) for term in terms]
            self.set_edges(edges, now=now, file=label)

    def add_node(self, node: Node, *, now: str, text: Text | None = None) -> int:
        """Add or update a node that belongs to no source, with its searchable text; return its id.

        A node of a kind that exists only for its edges must be added together with an edge, in one transaction.
        """
        with self._db.transaction():
            return GraphWriter(self._db, self._vectors, now).put_node(node, text=text)

    def _remember(self, gone: Sequence[tuple[int, str]]) -> None:
        """Log what the removed components said of which the log tells something, since that holds for their copies."""
        if not gone:
            return
        self._db.execute(
            f"""INSERT INTO event(at, kind, node, data)
                SELECT strftime('%Y-%m-%dT%H:%M:%SZ', 'now'), '{LEFT}', n.key,
                  json_object('content_hash', c.content_hash, 'type', c.type, 'name', n.name)
                FROM json_each(?) gone JOIN node n ON n.id = gone.value JOIN component c ON c.node_id = n.id
                WHERE c.content_hash <> '' AND n.key IN (SELECT node FROM event WHERE kind <> '{LEFT}')""",
            (json.dumps([node_id for node_id, _ in gone]),),
        )

    def _unsettle(self) -> None:
        # In the same transaction as the change, so that a process killed afterwards leaves the record of the open work.
        self._db.execute(
            """INSERT INTO meta SELECT ?1, value + 1 FROM meta WHERE key = 'revision'
               ON CONFLICT(key) DO UPDATE SET value = excluded.value""",
            (_UNSETTLED,),
        )

    def _upsert_source(self, info: SourceInfo, now: str) -> int:
        self._db.execute(
            """INSERT INTO source(key, kind, location, repository, commit_sha, added_at, ingested_at)
               VALUES (?, ?, ?, ?, ?, ?, ?)
               ON CONFLICT(key) DO UPDATE SET given = CASE WHEN excluded.kind <> 'marketplace' THEN ''
                   WHEN kind <> 'marketplace' THEN location ELSE given END,
                 kind = excluded.kind, location = excluded.location,
                 repository = excluded.repository, commit_sha = excluded.commit_sha,
                 ingested_at = excluded.ingested_at""",
            (info.key, info.kind, info.location, info.repository, info.commit, now, now),
        )
        return int(self._db.value("SELECT id FROM source WHERE key = ?", (info.key,)))

    def _write_files(self, owner: int, files: Mapping[str, FileRecord]) -> None:
        self._db.executemany(
            "INSERT INTO file VALUES (?, ?, ?, ?) ON CONFLICT DO UPDATE SET content_hash = excluded.content_hash, "
            "skipped = excluded.skipped",
            [(owner, path, record.content_hash, storable(record.skipped)) for path, record in files.items()],
        )

    def _write_edges(
        self, writer: GraphWriter, owner: int, files: Mapping[str, FileRecord], derived: Sequence[Edge]
    ) -> None:
        # Written after all components, since an edge may point at a component of a later file.
        edges = [*derived, *(edge for record in files.values() for edge in record.edges)]
        needed = {end for edge in edges if edge.source != edge.target for end in (edge.source, edge.target)}
        nodes = {node.key: (path, node) for path, record in files.items() for node in record.nodes}
        for key, (path, node) in nodes.items():
            kind = self._db.layout.kind.get(node.type)
            alone = kind is None or kind.forgotten != WITH_EDGES
            # A node without edges is not written: writing and collecting it would only raise the revision.
            if alone or key in needed or writer.find(key) is not None:
                of_file = kind is not None and kind.forgotten == WITH_SOURCE
                writer.put_node(node, Owner(owner, path) if of_file else SHARED)
        for path, record in files.items():
            writer.replace_edges(Owner(owner, path), record.edges)
        writer.replace_edges(Owner(owner, ""), derived)
