"""The protocols that more than one real implementation fulfils."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import numpy as np
import numpy.typing as npt

Vectors = npt.NDArray[np.float32]


class Embedder(Protocol):
    """Turns text into unit vectors whose dot product is their cosine similarity."""

    @property
    def model(self) -> str:
        """Name the weights exactly: vectors of two different values must never be compared."""

    @property
    def dimensions(self) -> int:
        """Tell the length of every vector."""

    def embed_queries(self, texts: Sequence[str]) -> Vectors:
        """Embed what is asked: one L2-normalised float32 row a text, in their order."""

    def embed_passages(self, texts: Sequence[str]) -> Vectors:
        """Embed what is searched: one L2-normalised float32 row a text, in their order."""
