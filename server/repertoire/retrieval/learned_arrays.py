"""Reads the arrays of a learned model from its file, for the encoders alone that the model was learned for."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt


def arrays_for(path: Path, reading: str) -> dict[str, npt.NDArray[Any]] | None:
    """Return the arrays of a model that was learned for exactly these encoders; None where there is none."""
    if not path.is_file():
        return None
    with np.load(path) as kept:
        if str(kept["reading"]) != reading:
            return None
        return {name: kept[name] for name in kept.files if name != "reading"}
