"""Whether a prompt is about what Claude Code components are for, whatever lies here: learned from what people ask.

Among a hundred components something is like any prompt at all. How far a prompt is from all that components are made
for tells a trip to plan from a build to mend before anything is compared. What lies here stands on the same scale:
where most of it is for software, what asks further off than three quarters of it is hardly served by the rest.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from repertoire.domain.answer import DESCRIPTION_SPACE
from repertoire.ports import Vectors
from repertoire.retrieval.snapshot import Snapshot

FILE = Path(__file__).with_name("subject.npz")
_FEW = 25  # per cent of what lies here: who asks further off than all but so many asks for something else


@dataclass(frozen=True)
class Subject:
    """A direction among the adapted vectors of questions, for one reading of them."""

    reading: str
    direction: Vectors
    offset: float

    def odds(self, adapted: Vectors) -> float:
        """Return the log-odds that a prompt is about what components are for."""
        return float(adapted @ self.direction) + self.offset

    def save(self, path: Path = FILE) -> None:
        """Write the direction to a file."""
        np.savez(path, reading=np.array(self.reading), direction=self.direction, offset=np.array(self.offset))


class Scope:
    """Keeps where the components of the newest snapshot stand on a subject's scale."""

    def __init__(self, subject: Subject | None) -> None:
        self._subject = subject
        self._kept: tuple[Snapshot, float] | None = None

    def beyond(self, snapshot: Snapshot, odds: float) -> float:
        """Return by how much a question's odds lie below those of nearly all that lies here: 0 or less.

        It is 0 where most of what lies here is no more about the subject: tools for other things serve other things.
        """
        self.read(snapshot)
        return min(odds - self._kept[1], 0.0) if self._kept else 0.0

    def read(self, snapshot: Snapshot) -> None:
        """Work out where the components stand, where the snapshot is another one."""
        if self._subject is not None and (self._kept is None or self._kept[0] is not snapshot):
            self._kept = snapshot, _lower_end(snapshot, self._subject)


def _lower_end(snapshot: Snapshot, subject: Subject) -> float:
    vectors = snapshot.spaces[DESCRIPTION_SPACE].vectors
    if not len(vectors):
        return -np.inf
    odds = np.einsum("ij,j->i", vectors, subject.direction) + subject.offset  # see vector.semantic
    shares = np.linspace(0.0, 100.0, len(odds))  # numpy's own percentile imports its masked arrays
    low, middle = np.interp((_FEW, 50.0), shares, np.sort(odds)).tolist()
    return float(low) if middle > 0.0 else -np.inf


def subject_for(reading: str, path: Path = FILE) -> Subject | None:
    """Return the weights that were learned for exactly this query encoder, or None."""
    if not path.is_file():
        return None
    with np.load(path) as kept:
        if str(kept["reading"]) != reading:
            return None
        return Subject(reading, kept["direction"].astype(np.float32), float(kept["offset"]))
