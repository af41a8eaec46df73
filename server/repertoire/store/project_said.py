"""Reads and writes what entries say of two things, as edges that belong to the entry which says it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from repertoire.domain.component import Edge, Node
from repertoire.domain.project import ENTITY, SaidEdge
from repertoire.store.connection import Connection
from repertoire.store.vectors import Vectors
from repertoire.store.writing import SHARED, GraphWriter, Owner

_FILE = "said "  # begins the label of the edges of an entry
_SELECT = f"""SELECT a.name, e.relation, b.name, substr(e.file, {len(_FILE) + 1}) FROM edge e
    JOIN node a ON a.id = e.source JOIN node b ON b.id = e.target WHERE e.source_id = {SHARED.source_id}"""


class ProjectSaid:
    """What the entries of a project say."""

    def __init__(self, connection: Connection, vectors: Vectors) -> None:
        self._db = connection
        self._vectors = vectors

    def put(self, entry: str, edges: Sequence[Edge], names: Mapping[str, str], *, now: str) -> None:
        """Write what an entry says, in place of what it said before; `names` are those of the things by their keys."""
        label = f"{_FILE}{entry}"
        known = self._db.value("SELECT 1 FROM edge WHERE source_id = ? AND file = ?", (SHARED.source_id, label))
        if not edges and not known:
            return
        with self._db.transaction():
            writer = GraphWriter(self._db, self._vectors, now)
            for key, name in names.items():
                if writer.find(key) is None:
                    writer.put_node(Node(key, ENTITY, name))
            writer.replace_edges(Owner(SHARED.source_id, label), edges)
            writer.collect_orphans()

    def by(self, entry: str) -> list[SaidEdge]:
        """Return what an entry says."""
        return self._read(f"{_SELECT} AND e.file = ? ORDER BY e.id", f"{_FILE}{entry}")

    def of(self, key: str) -> list[SaidEdge]:
        """Return what entries say of a thing, and of others with it."""
        return self._read(f"{_SELECT} AND e.file GLOB '{_FILE}*' AND ? IN (a.key, b.key) ORDER BY e.id", key)

    def name_of(self, key: str) -> str:
        """Return the name of a thing that an entry says something of; empty if none does."""
        return str(self._db.value("SELECT name FROM node WHERE key = ?", (key,)) or "")

    def _read(self, sql: str, value: str) -> list[SaidEdge]:
        return [SaidEdge(*map(str, row)) for row in self._db.rows(sql, (value,))]
