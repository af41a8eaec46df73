"""Whether a prompt is about what Claude Code components are for, whatever lies here: learned from what people ask.

Among a hundred components something is like any prompt at all. How far a prompt is from all that components are made
for tells a trip to plan from a build to mend before anything is compared.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from repertoire.ports import Vectors

FILE = Path(__file__).with_name("subject.npz")


@dataclass(frozen=True)
class Subject:
    """A direction among the turned vectors of questions, for one reading of them."""

    reading: str
    direction: Vectors
    offset: float

    def odds(self, turned: Vectors) -> float:
        """Return the log-odds that a prompt is about what components are for."""
        return float(turned @ self.direction) + self.offset

    def save(self, path: Path = FILE) -> None:
        """Write the direction to a file."""
        np.savez(path, reading=np.array(self.reading), direction=self.direction, offset=np.array(self.offset))


def subject_for(reading: str, path: Path = FILE) -> Subject | None:
    """Return what was learned for exactly this reading of questions, or None where there is nothing."""
    if not path.is_file():
        return None
    with np.load(path) as kept:
        if str(kept["reading"]) != reading:
            return None
        return Subject(reading, kept["direction"].astype(np.float32), float(kept["offset"]))
