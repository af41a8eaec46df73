"""Estimates whether a prompt is about software work, as Claude Code components are, by a learned linear model.

Among a hundred components some are similar to any prompt. The model separates a trip to plan from a build to repair
before any component is compared. It scores the stored components too: where most of them are for software, a prompt
that scores below three quarters of them is hardly served by the rest.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np

from repertoire.domain.answer import DESCRIPTION_SPACE
from repertoire.ports import Vectors
from repertoire.retrieval.arrays import dot_products
from repertoire.retrieval.learned_arrays import arrays_for
from repertoire.retrieval.snapshot import Snapshot
from repertoire.retrieval.snapshot_cache import SnapshotCache

FILE = Path(__file__).with_name("subject.npz")
_FEW = 25  # percentile of the stored components' scores below which a prompt asks for something else


@dataclass(frozen=True)
class SubjectModel:
    """A linear model over adapted question vectors, learned for one query encoder."""

    query_encoder: str
    direction: Vectors
    offset: float

    def odds(self, adapted: Vectors) -> float:
        """Return the log-odds that a prompt is about software work."""
        return float(adapted @ self.direction) + self.offset

    def save(self, path: Path = FILE) -> None:
        """Write the model to a file."""
        np.savez(path, reading=np.array(self.query_encoder), direction=self.direction, offset=np.array(self.offset))


class SubjectScale:
    """Caches the lower end of the newest snapshot's components on the scale of a subject model."""

    def __init__(self, subject: SubjectModel | None) -> None:
        self._lower_end = SnapshotCache(lambda snapshot: _lower_end(snapshot, subject))

    def beyond(self, snapshot: Snapshot, odds: float) -> float:
        """Return by how much a question's log-odds lie below those of nearly all stored components: 0 or less.

        It is 0 where most stored components are not about software, because these serve other tasks.
        """
        return min(odds - self._lower_end.of(snapshot), 0.0)

    def read(self, snapshot: Snapshot) -> None:
        """Compute the components' lower end, if the snapshot is not the cached one."""
        self._lower_end.of(snapshot)


def _lower_end(snapshot: Snapshot, subject: SubjectModel | None) -> float:
    vectors = snapshot.spaces[DESCRIPTION_SPACE].vectors
    if subject is None or not len(vectors):
        return -np.inf
    odds = dot_products(vectors, subject.direction) + subject.offset
    shares = np.linspace(0.0, 100.0, len(odds))  # numpy's own percentile imports its masked arrays
    low, middle = np.interp((_FEW, 50.0), shares, np.sort(odds)).tolist()
    return float(low) if middle > 0.0 else -np.inf


@cache
def subject_model_for(query_encoder: str, path: Path = FILE) -> SubjectModel | None:
    """Return the model that was learned for exactly this query encoder, read once a process; None if there is none."""
    kept = arrays_for(path, query_encoder)
    if kept is None:
        return None
    return SubjectModel(query_encoder, kept["direction"].astype(np.float32), float(kept["offset"]))
