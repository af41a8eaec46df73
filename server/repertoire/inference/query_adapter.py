"""Reads the query adapter (LoRA): low-rank matrices that the bundled model applies to questions only."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import numpy.typing as npt


def read_adapter(path: Path) -> dict[str, npt.NDArray[np.float32]]:
    """Return the adapter's matrices by the names of the model inputs that take them."""
    with np.load(path) as kept:
        return {name: kept[name].astype(np.float32) for name in kept.files}
