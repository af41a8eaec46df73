"""Rounds what a measurement states, and opens the file of its run."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TextIO

import numpy as np


def percent(values: Iterable[float]) -> float:
    """Return the mean of shares in percent, to a tenth."""
    return round(100 * float(np.mean(list(values))), 1)


def median_and_tail(times: Sequence[float]) -> tuple[float, float]:
    """Return the median and the 95th percentile, to a tenth."""
    return round(float(np.percentile(times, 50)), 1), round(float(np.percentile(times, 95)), 1)


def open_run(path: Path) -> TextIO:
    """Open the file of a run to be written, in a folder that is made where there is none."""
    path.parent.mkdir(parents=True, exist_ok=True)
    return path.open("w", encoding="utf-8")
