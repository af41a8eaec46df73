"""Reads adapters (LoRA): low-rank matrices that the bundled model applies to questions alone, or to pairs alone."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

Matrices = dict[str, npt.NDArray[np.float32]]
HEAD, OFFSETS = "head", "offsets"  # what a pair adapter holds beside the matrices of the model's layers


@dataclass(frozen=True)
class PairHead:
    """A linear function from the mean vector of a pair to the log-odds that it serves and that it helps."""

    weights: npt.NDArray[np.float32]
    offsets: npt.NDArray[np.float32]

    def __call__(self, mean: npt.NDArray[np.float32]) -> npt.NDArray[np.float32]:
        """Return both log-odds."""
        return mean @ self.weights + self.offsets


def read_adapter(path: Path) -> Matrices:
    """Return the adapter's matrices by the names of the model inputs that take them."""
    with path.open("rb") as stream, np.load(stream) as kept:  # numpy leaves open what it opened and cannot read
        return {name: kept[name].astype(np.float32) for name in kept.files}


def read_pair_adapter(path: Path) -> tuple[Matrices, PairHead]:
    """Return the matrices of a pair adapter, and its head."""
    matrices = read_adapter(path)
    return matrices, PairHead(matrices.pop(HEAD), matrices.pop(OFFSETS))
