"""Stores vectors in sqlite-vec, a table for each space and model, so that vectors of two models are never compared."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from repertoire.domain.errors import CorruptStore
from repertoire.domain.graph import COMPONENTS
from repertoire.store.connection import Connection
from repertoire.store.light.bindings import marks
from repertoire.store.vector_form import FLOATS, Matrix, VectorForm

_CHUNKS = "SELECT validity, rowids FROM {table}_chunks ORDER BY chunk_id"
_BLOBS = """SELECT v.vectors FROM {table}_chunks c
            JOIN {table}_vector_chunks00 v ON v.rowid = c.chunk_id ORDER BY c.chunk_id"""
_MOVED = "vectors"  # key in `meta` that counts all changes of vectors; with a space's name appended, those of the space
_ROOM = 1.25  # a table with more than this many times the chunks that it needs is compacted


@dataclass(frozen=True)
class Progress:
    """How many nodes have a vector, of all nodes that should have one."""

    done: int
    total: int


@dataclass(frozen=True)
class _Space:
    id: int
    dimensions: int

    @property
    def table(self) -> str:
        return f"vec_{self.id}"


class Vectors:
    """Reads and writes the vector spaces of the graph; all files of a sort store vectors in one form."""

    def __init__(self, connection: Connection, form: VectorForm = FLOATS) -> None:
        self._db = connection
        self._form = form

    def put(self, space: str, model: str, rows: Sequence[tuple[int, str]], vectors: Matrix) -> None:
        """Store one vector for each (node id, content hash); a node that was deleted meanwhile is left out."""
        blobs = self._form.encode(vectors)
        with self._db.transaction():
            place = self._ensure(space, model, int(vectors.shape[1]))
            known = self._embeddable(space, [node_id for node_id, _ in rows])
            fresh = {row[0]: (row, blob) for row, blob in zip(rows, blobs, strict=True) if row[0] in known}
            self._replace(place, [row for row, _ in fresh.values()])
            self._db.executemany(
                f"INSERT INTO {place.table}(rowid, embedding) VALUES (?, {self._form.value})",
                [(node_id, blob) for node_id, (_, blob) in fresh.items()],
            )

    def mark(self, space: str, model: str, dimensions: int, rows: Sequence[tuple[int, str]]) -> None:
        """Record that these contents have no text to embed in a space."""
        with self._db.transaction():
            known = self._embeddable(space, [node_id for node_id, _ in rows])
            self._replace(self._ensure(space, model, dimensions), [row for row in rows if row[0] in known])

    def revision(self) -> int:
        """Return a number that changes whenever a vector of components does."""
        moved = self.revisions(self._db.layout.spaces_of(COMPONENTS)).values()
        return sum(own for own, _ in moved) + max((unsaid for _, unsaid in moved), default=0)

    def revisions(self, spaces: Sequence[str]) -> dict[str, tuple[int, int]]:
        """Map each vector space to two counts of changes: of its own vectors, and of vectors in unknown spaces."""
        moved = {
            str(key)[len(_MOVED) :]: int(value)
            for key, value in self._db.rows("SELECT key, value FROM meta WHERE key GLOB ?", (f"{_MOVED}*",))
        }
        unsaid = moved.get("", 0) - sum(times for space, times in moved.items() if space)
        return {space: (moved.get(f" {space}", 0), unsaid) for space in spaces}

    def matrix(self, space: str, model: str) -> tuple[npt.NDArray[np.int64], Matrix]:
        """Return the whole space as node ids, in order, and a matrix with one vector a row."""
        with self._db.snapshot():
            place = self._find(space, model)
            chunks = [] if place is None else self._db.rows(_CHUNKS.format(table=place.table))
            if place is None or not chunks:
                return np.zeros(0, dtype=np.int64), np.zeros((0, 0), dtype=np.float32)
            held = [_bits(row[0]) for row in chunks]
            numbers = [np.frombuffer(row[1], "<i8")[valid] for row, valid in zip(chunks, held, strict=True)]
            ids = np.concatenate(numbers).astype(np.int64)
            order = np.argsort(ids)
            places = np.empty_like(order)
            places[order] = np.arange(len(ids))
            matrix = np.empty((len(ids), place.dimensions), dtype=np.float32)
            # Read chunk by chunk, as sqlite-vec stores vectors: reading by row takes four times as long. Each is copied
            # to its place at once, because all chunks beside the matrix would take three times its memory for a moment.
            begin = 0
            for valid, (blob,) in zip(held, self._db.stream(_BLOBS.format(table=place.table)), strict=True):
                end = begin + int(valid.sum())
                if len(blob) != len(valid) * place.dimensions * self._form.width:
                    message = f"{self._db.path}: the vectors of space {place.id} have another length than it says"
                    raise CorruptStore(message)
                matrix[places[begin:end]] = self._form.decode(blob, place.dimensions)[valid]
                begin = end
        return ids[order], matrix

    def pending(self, space: str, model: str, *, limit: int, own: bool = False) -> list[tuple[int, str]]:
        """Return (node id, content hash) of components without a vector of their present content, installed ones first.

        With `own`, of a person's own components alone: installed by themselves, not with a plugin.
        """
        rows = self._db.rows(
            """SELECT c.node_id, c.content_hash FROM component c
               LEFT JOIN vector_space s ON s.space = ? AND s.model = ?
               LEFT JOIN vector_state v ON v.space_id = s.id AND v.node_id = c.node_id
               WHERE (v.content_hash IS NULL OR v.content_hash <> c.content_hash)
                 AND (NOT ? OR (c.installed AND c.plugin = ''))
               ORDER BY c.installed DESC, c.node_id LIMIT ?""",
            (space, model, own, limit),
        )
        return [(int(node_id), str(content_hash)) for node_id, content_hash in rows]

    def progress(self, space: str, model: str) -> Progress:
        """Return how many components have a vector of their present content."""
        total = int(self._db.value("SELECT count(*) FROM component"))
        done = self._db.value(
            """SELECT count(*) FROM vector_space s
               JOIN vector_state v ON v.space_id = s.id
               JOIN component c ON c.node_id = v.node_id AND c.content_hash = v.content_hash
               WHERE s.space = ? AND s.model = ?""",
            (space, model),
        )
        return Progress(int(done), total)

    def drop(self, node_id: int) -> None:
        """Delete a node's vectors in every space."""
        spaces = self._db.rows("SELECT space_id FROM vector_state WHERE node_id = ?", (node_id,))
        if spaces:
            for (space_id,) in spaces:
                self._db.execute(f"DELETE FROM vec_{space_id} WHERE rowid = ?", (node_id,))
                self._moved(space_id)
            self._db.execute("DELETE FROM vector_state WHERE node_id = ?", (node_id,))

    def drop_other_models(self, *models: str) -> None:
        """Delete the spaces of components that belong to other models than the configured ones."""
        spaces = self._db.layout.spaces_of(COMPONENTS)
        self._drop_spaces(f"model NOT IN ({marks(models)}) AND space IN ({marks(spaces)})", *models, *spaces)

    def drop_space(self, space: str) -> None:
        """Delete a space with the vectors of every model; `*` is every space."""
        self._drop_spaces("space GLOB ?", space)

    def _drop_spaces(self, where: str, *values: str) -> None:
        with self._db.transaction():
            for (space_id,) in self._db.rows(f"SELECT id FROM vector_space WHERE {where}", values):
                self._db.execute(f"DROP TABLE vec_{space_id}")
                self._db.execute("DELETE FROM vector_state WHERE space_id = ?", (space_id,))
                self._moved(space_id)
                self._db.execute("DELETE FROM vector_space WHERE id = ?", (space_id,))

    def _moved(self, space_id: int) -> None:
        space = self._db.value("SELECT space FROM vector_space WHERE id = ?", (space_id,))
        self._db.execute(
            "INSERT INTO meta VALUES (?, 1), (?, 1) ON CONFLICT(key) DO UPDATE SET value = value + 1",
            (_MOVED, f"{_MOVED} {space}"),
        )

    def _embeddable(self, space: str, node_ids: Sequence[int]) -> set[int]:
        # A component deleted since it was read may remain as a stand-in, which has no content to embed.
        kinds = {node_id: self._db.value("SELECT type FROM node WHERE id = ?", (node_id,)) for node_id in node_ids}
        known = self._db.layout.kind
        return {
            node_id
            for node_id, kind in kinds.items()
            if kind is not None and (kind not in known or space in known[kind].spaces)
        }

    def _replace(self, place: _Space, rows: Sequence[tuple[int, str]]) -> None:
        self._db.executemany(f"DELETE FROM {place.table} WHERE rowid = ?", [(node_id,) for node_id, _ in rows])
        self._db.executemany(
            "INSERT OR REPLACE INTO vector_state VALUES (?, ?, ?)",
            [(place.id, node_id, content_hash) for node_id, content_hash in rows],
        )
        if rows:
            self._moved(place.id)
            self._pack(place.table)

    def _pack(self, table: str) -> None:
        """Compact a table: move the vectors of its emptiest chunks to its end.

        sqlite-vec inserts into its last chunk only, and frees a chunk only when it is empty. With deletions
        spread over many chunks and new vectors at the end, the file would grow for ever.
        """
        rows = self._db.rows(f"SELECT chunk_id, validity FROM {table}_chunks ORDER BY chunk_id")
        held = {int(chunk): _bits(validity) for chunk, validity in rows}
        needed = sum(int(valid.sum()) / len(valid) for valid in held.values())
        emptiest = sorted([*held][:-1], key=lambda chunk: int(held[chunk].sum()))
        for chunk in emptiest[: max(len(held) - math.ceil(_ROOM * needed) - 1, 0)]:
            numbers = self._db.value(f"SELECT rowids FROM {table}_chunks WHERE chunk_id = ?", (chunk,))
            for node_id in np.frombuffer(numbers, "<i8")[held[chunk]].tolist():
                blob = self._db.value(f"SELECT embedding FROM {table} WHERE rowid = ?", (node_id,))
                self._db.execute(f"DELETE FROM {table} WHERE rowid = ?", (node_id,))
                insert = f"INSERT INTO {table}(rowid, embedding) VALUES (?, {self._form.value})"
                self._db.execute(insert, (node_id, blob))

    def _find(self, space: str, model: str) -> _Space | None:
        row = self._db.row("SELECT id, dimensions FROM vector_space WHERE space = ? AND model = ?", (space, model))
        return None if row is None else _Space(*row)

    def _ensure(self, space: str, model: str, dimensions: int) -> _Space:
        found = self._find(space, model)
        if found is not None and found.dimensions == dimensions:
            return found
        if found is not None:  # other weights under the same name: the stored vectors cannot be compared with new ones
            self._drop_spaces("id = ?", str(found.id))
        self._db.execute(
            "INSERT INTO vector_space(space, model, dimensions) VALUES (?, ?, ?)", (space, model, dimensions)
        )
        place = _Space(self._db.last_id, dimensions)
        self._db.execute(self._form.table(place.table, dimensions))
        return place


def _bits(validity: bytes) -> npt.NDArray[np.bool_]:
    """Return a mask of the slots of a chunk that hold a vector."""
    return np.unpackbits(np.frombuffer(validity, np.uint8), bitorder="little").astype(np.bool_)
