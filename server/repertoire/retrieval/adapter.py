"""Turns the vector of a question towards what answers it.

A general model puts a question near what is worded like it. What serves it is worded otherwise: "our pods crash on each
rollout" is served by a text about deployment. The turn is learned from questions and what their authors say answers
them; vectors of components stay as the model made them, so that nothing has to be embedded again.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from repertoire.ports import Vectors

FILE = Path(__file__).with_name("adapter.npz")


@dataclass(frozen=True)
class Adapter:
    """A turn of low rank for the vectors of one model."""

    model: str
    down: Vectors
    up: Vectors

    def turn(self, vectors: Vectors) -> Vectors:
        """Return the vectors turned, of length 1 again."""
        turned = vectors + (vectors @ self.down) @ self.up
        return np.asarray(turned / np.maximum(np.linalg.norm(turned, axis=1, keepdims=True), 1e-9), dtype=np.float32)

    def save(self, path: Path = FILE) -> None:
        """Write the turn to a file, half as precise as it is in memory."""
        np.savez_compressed(
            path, model=np.array(self.model), down=self.down.astype(np.float16), up=self.up.astype(np.float16)
        )


def adapter_for(model: str, path: Path = FILE) -> Adapter | None:
    """Return the turn learned for exactly these weights, or None where there is none."""
    if not path.is_file():
        return None
    with np.load(path) as kept:
        if str(kept["model"]) != model:
            return None
        return Adapter(model, kept["down"].astype(np.float32), kept["up"].astype(np.float32))
