"""Says how a graph file stores the numbers of vectors: as floats, or as bytes that take a quarter of the room."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Matrix = npt.NDArray[np.float32]
_LARGEST = 127


@dataclass(frozen=True)
class VectorForm:
    """A form of stored unit vectors: the options of sqlite-vec's column, and the SQL function that marks a value."""

    number: str
    width: int  # bytes of a number
    options: str
    value: str

    def table(self, name: str, dimensions: int) -> str:
        """Return the statement that creates a table of vectors."""
        return f"CREATE VIRTUAL TABLE {name} USING vec0(embedding {self.number}[{dimensions}]{self.options})"

    def encode(self, vectors: Matrix) -> list[bytes]:
        """Return unit vectors, one a row, as the blobs that the column takes."""
        if self is FLOATS:
            return [row.tobytes() for row in np.ascontiguousarray(vectors, dtype="<f4")]
        largest = np.maximum(np.abs(vectors).max(axis=1, initial=0.0, keepdims=True), np.float32(1e-9))
        return [row.tobytes() for row in np.rint(vectors * (_LARGEST / largest)).astype(np.int8)]

    def decode(self, blob: bytes, dimensions: int) -> Matrix:
        """Return the unit vectors in a blob of them, one a row; a byte's factor is what makes its row one long."""
        if self is FLOATS:
            return np.frombuffer(blob, "<f4").reshape(-1, dimensions)
        rows = np.frombuffer(blob, np.int8).reshape(-1, dimensions).astype(np.float32)
        rows /= np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), np.float32(1e-9))
        return rows


FLOATS = VectorForm("float", 4, "", "?")
# A file that is written once gains from small chunks: room for 1,024 vectors in the last one would often stay empty.
BYTES = VectorForm("int8", 1, " distance_metric=cosine, chunk_size=64", "vec_int8(?)")
