"""Finds vectors that may be near by the signs of their numbers: a bit for each, compared in a fiftieth of the time."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from repertoire.ports import Vectors
from repertoire.retrieval.arrays import Rows

AVAILABLE = hasattr(np, "bitwise_count")  # from numpy 2.0 on
_WORD = 64


@dataclass(frozen=True)
class SignCodes:
    """The signs of vectors around their mean, 64 to a whole number, a row for each such number."""

    middle: Vectors
    codes: npt.NDArray[np.uint64]

    @classmethod
    def of(cls, vectors: Vectors) -> SignCodes:
        """Return the codes of vectors, one a row."""
        middle = np.asarray(vectors.mean(axis=0), dtype=np.float32)
        parts = [_packed(vectors[start : start + 20_000] - middle) for start in range(0, len(vectors), 20_000)]
        return cls(middle, np.ascontiguousarray(np.concatenate(parts).T))

    def nearest(self, vector: Vectors, most: int) -> Rows:
        """Return the places of the vectors whose signs differ least from those of a vector, in no order."""
        if most >= self.codes.shape[1]:
            return np.arange(self.codes.shape[1])
        other = _packed((vector - self.middle)[None, :])[0]
        differing = np.zeros(self.codes.shape[1], dtype=np.uint16)
        for part, same in zip(self.codes, other, strict=True):
            differing += np.bitwise_count(part ^ same)
        return np.argpartition(differing, most)[:most]


@dataclass(frozen=True)
class NodeVectors:
    """The vectors of nodes in a space, by node id, with their codes: computed once, whatever holds these vectors."""

    ids: Rows
    vectors: Vectors

    @cached_property
    def codes(self) -> SignCodes:
        """The signs of these vectors."""
        return SignCodes.of(self.vectors)


def _packed(vectors: Vectors) -> npt.NDArray[np.uint64]:
    bits = np.packbits(vectors > 0.0, axis=1)
    padded = np.zeros((len(bits), -(-bits.shape[1] * 8 // _WORD) * _WORD // 8), dtype=np.uint8)
    padded[:, : bits.shape[1]] = bits
    return padded.view(np.uint64)
