"""Vectors in sqlite-vec: one table for each space and model, so that vectors of two models are never compared."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from repertoire.store.connection import Connection

Matrix = npt.NDArray[np.float32]


@dataclass(frozen=True)
class Progress:
    """How many nodes have their vectors of those that should."""

    done: int
    total: int


class Vectors:
    """The vector spaces of the graph."""

    def __init__(self, connection: Connection) -> None:
        self._db = connection

    def put(self, space: str, model: str, rows: Sequence[tuple[int, str]], vectors: Matrix) -> None:
        """Store one vector for each (node id, content hash); a node that is gone by now is left out."""
        with self._db.transaction():
            self._moved()
            table, space_id = self._ensure(space, model, vectors.shape[1])
            for (node_id, content_hash), vector in zip(rows, vectors, strict=True):
                if not self._db.value("SELECT 1 FROM node WHERE id = ?", (node_id,)):
                    continue
                self._db.execute(f"DELETE FROM {table} WHERE rowid = ?", (node_id,))
                self._db.execute(
                    f"INSERT INTO {table}(rowid, embedding) VALUES (?, ?)",
                    (node_id, vector.astype("<f4").tobytes()),
                )
                self._db.execute(
                    "INSERT OR REPLACE INTO vector_state VALUES (?, ?, ?)", (space_id, node_id, content_hash)
                )

    def mark(self, space: str, model: str, dimensions: int, rows: Sequence[tuple[int, str]]) -> None:
        """Note that these contents have nothing to embed in a space."""
        with self._db.transaction():
            self._moved()
            table, space_id = self._ensure(space, model, dimensions)
            for node_id, content_hash in rows:
                self._db.execute(f"DELETE FROM {table} WHERE rowid = ?", (node_id,))
                self._db.execute(
                    "INSERT OR REPLACE INTO vector_state VALUES (?, ?, ?)", (space_id, node_id, content_hash)
                )

    def revision(self) -> int:
        """Return the number that moves whenever a vector changes."""
        return int(self._db.value("SELECT value FROM meta WHERE key = 'vectors'") or 0)

    def nearest(self, space: str, model: str, vector: Matrix, *, limit: int) -> list[tuple[int, float]]:
        """Return the nearest node ids with their cosine similarity, best first; empty where the space is not."""
        table = self._table(space, model)
        if table is None or limit < 1:
            return []
        rows = self._db.rows(
            f"SELECT rowid, distance FROM {table} WHERE embedding MATCH ? AND k = ? ORDER BY distance",
            (vector.astype("<f4").tobytes(), min(limit, 4096)),  # 4096: sqlite-vec's own bound on k
        )
        # unit vectors: |a - b|² = 2 - 2 cos
        return [(node_id, 1.0 - distance * distance / 2.0) for node_id, distance in rows]

    def matrix(self, space: str, model: str) -> tuple[npt.NDArray[np.int64], Matrix]:
        """Return the whole space as node ids and their vectors, row by row."""
        table = self._table(space, model)
        rows = [] if table is None else self._db.rows(f"SELECT rowid, embedding FROM {table} ORDER BY rowid")
        ids = np.fromiter((row[0] for row in rows), dtype=np.int64, count=len(rows))
        if not rows:
            return ids, np.zeros((0, 0), dtype=np.float32)
        return ids, np.frombuffer(b"".join(row[1] for row in rows), dtype="<f4").reshape(len(rows), -1)

    def pending(self, space: str, model: str, *, limit: int) -> list[tuple[int, str]]:
        """Return (node id, content hash) of components whose vector is missing or older than their content."""
        rows = self._db.rows(
            """SELECT c.node_id, c.content_hash FROM component c
               LEFT JOIN vector_space s ON s.space = ? AND s.model = ?
               LEFT JOIN vector_state v ON v.space_id = s.id AND v.node_id = c.node_id
               WHERE v.content_hash IS NULL OR v.content_hash <> c.content_hash
               ORDER BY c.installed DESC, c.node_id LIMIT ?""",
            (space, model, limit),
        )
        return [(int(node_id), str(content_hash)) for node_id, content_hash in rows]

    def progress(self, space: str, model: str) -> Progress:
        """Tell how far the embedding of components has come."""
        total = int(self._db.value("SELECT count(*) FROM component"))
        done = self._db.value(
            """SELECT count(*) FROM component c JOIN vector_state v ON v.node_id = c.node_id AND v.content_hash = c.content_hash
               JOIN vector_space s ON s.id = v.space_id WHERE s.space = ? AND s.model = ?""",
            (space, model),
        )
        return Progress(int(done), total)

    def drop(self, node_id: int) -> None:
        """Delete a node's vectors in every space."""
        for (space_id,) in self._db.rows("SELECT space_id FROM vector_state WHERE node_id = ?", (node_id,)):
            self._db.execute(f"DELETE FROM vec_{space_id} WHERE rowid = ?", (node_id,))
        self._db.execute("DELETE FROM vector_state WHERE node_id = ?", (node_id,))

    def drop_other_models(self, model: str) -> None:
        """Delete the spaces of every other model: the configured one has replaced them."""
        with self._db.transaction():
            self._moved()
            for (space_id,) in self._db.rows("SELECT id FROM vector_space WHERE model <> ?", (model,)):
                self._db.execute(f"DROP TABLE IF EXISTS vec_{space_id}")
                self._db.execute("DELETE FROM vector_state WHERE space_id = ?", (space_id,))
                self._db.execute("DELETE FROM vector_space WHERE id = ?", (space_id,))

    def _moved(self) -> None:
        self._db.execute("INSERT INTO meta VALUES ('vectors', 1) ON CONFLICT(key) DO UPDATE SET value = value + 1")

    def _table(self, space: str, model: str) -> str | None:
        space_id = self._db.value("SELECT id FROM vector_space WHERE space = ? AND model = ?", (space, model))
        return None if space_id is None else f"vec_{space_id}"

    def _ensure(self, space: str, model: str, dimensions: int) -> tuple[str, int]:
        self._db.execute(
            "INSERT INTO vector_space(space, model, dimensions) VALUES (?, ?, ?) ON CONFLICT DO NOTHING",
            (space, model, dimensions),
        )
        space_id = int(self._db.value("SELECT id FROM vector_space WHERE space = ? AND model = ?", (space, model)))
        table = f"vec_{space_id}"
        self._db.execute(f"CREATE VIRTUAL TABLE IF NOT EXISTS {table} USING vec0(embedding float[{dimensions}])")
        return table, space_id
