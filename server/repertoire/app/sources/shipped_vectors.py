"""Reads and writes the shipped vectors of the catalogue's texts, which allow vector search before any model has run.

`tools/vectors` writes them; each is stored under the hash of its text, so that a changed text has none.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from types import MappingProxyType

import numpy as np

from repertoire.ports import PassageEmbedder, Vectors

FILE = Path(__file__).resolve().parents[2] / "catalogue" / "vectors.npz"
_BYTES = 8  # a text is identified by so many bytes of its hash


def save(path: Path, embedder: PassageEmbedder, texts: Sequence[str]) -> None:
    """Write the vectors of texts to a file, in 8 bits for each number: readers give them their length again."""
    vectors = embedder.embed_passages(texts)
    vectors = np.rint(127 * vectors / np.abs(vectors).max(axis=1, keepdims=True)).astype(np.int8)
    hashes = np.array([_hash(text) for text in texts], dtype=np.uint64)
    np.savez(path, model=np.array(embedder.model), texts=hashes, vectors=vectors)


@lru_cache(maxsize=4)
def shipped(model: str) -> Mapping[int, Vectors]:
    """Return the shipped vectors by the hash of their text; none if they are another model's."""
    if not FILE.is_file():
        return MappingProxyType({})
    with np.load(FILE) as kept:
        if str(kept["model"]) != model:
            return MappingProxyType({})
        vectors = kept["vectors"].astype(np.float32)
        vectors /= np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-9)
        return MappingProxyType(dict(zip(kept["texts"].tolist(), vectors, strict=True)))


class ShippedVectorEmbedder:
    """An embedder that uses shipped vectors where it can, and its model only for other texts."""

    def __init__(self, embedder: PassageEmbedder) -> None:
        self._embedder = embedder
        self._shipped = shipped(embedder.model)
        self.model = embedder.model
        self.dimensions = embedder.dimensions

    def known(self, text: str) -> bool:
        """Return whether a text has a shipped vector."""
        return _hash(text) in self._shipped

    def embed_passages(self, texts: Sequence[str]) -> Vectors:
        """Return the vectors of component texts, one L2-normalised float32 row for each text."""
        new = [text for text in dict.fromkeys(texts) if not self.known(text)]
        fresh = dict(zip(new, self._embedder.embed_passages(new), strict=True)) if new else {}
        return self._rows(fresh[text] if text in fresh else self._shipped[_hash(text)] for text in texts)

    def _rows(self, vectors: Iterable[Vectors]) -> Vectors:
        return np.array(list(vectors), dtype=np.float32).reshape(-1, self.dimensions)


def _hash(text: str) -> int:
    return int.from_bytes(hashlib.sha256(text.encode("utf-8", "replace")).digest()[:_BYTES], "big")
