"""Holds past requests as arrays: the rows that served each request, and how far each row was accepted or refused."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate

import numpy as np

from repertoire.domain.answer import REQUEST_SPACE
from repertoire.domain.component import REQUEST, SELECTED
from repertoire.domain.experience import CONTRADICTION_DISCOUNT, Experience, Experiences
from repertoire.ports import Vectors
from repertoire.retrieval.arrays import Floats, Rows
from repertoire.retrieval.snapshot import Snapshot

_UNKNOWN = Experience()
# What was refused more often than this times as often as it was accepted served the request no more: it may have been
# installed for it, or used once, and failed ever since. One failure after one use is not enough.
_PARDONED = 2.0


@dataclass(frozen=True)
class PastRequests:
    """Past requests and their rows: entries `begins[i]` to `begins[i + 1]` of every array belong to `vectors[i]`."""

    vectors: Vectors
    begins: Rows
    rows: Rows
    parts: Floats  # 1 for the row that served a request most, 0 for a row that was only refused
    accepted: Floats
    refused: Floats

    def __len__(self) -> int:
        return len(self.vectors)

    def of(self, index: int) -> slice:
        """Return the slice of the entries of one request."""
        return slice(int(self.begins[index]), int(self.begins[index + 1]))

    def served(self, index: int) -> Rows:
        """Return the rows that served a request; none where every selected row failed."""
        own = self.of(index)
        return np.asarray(self.rows[own][self.parts[own] > 0.0])

    def times_selected(self, size: int) -> Floats:
        """Return for each of `size` rows the number of requests that it served."""
        return np.bincount(self.rows[self.parts > 0.0], minlength=size).astype(np.float64)


def past_requests(snapshot: Snapshot, experiences: Experiences) -> PastRequests:
    """Return the requests of a snapshot for which a component was selected, with the experience of each component."""
    space, keys = snapshot.spaces[REQUEST_SPACE], snapshot.topology.keys
    selected = _selected(snapshot)
    kept = [index for index, position in enumerate(space.rows.tolist()) if position in selected]
    entries: list[tuple[int, float, float, float]] = []
    counts = []
    for position in space.rows[kept].tolist():
        own = _entries(snapshot, selected[position], experiences.get(keys[position], {}))
        entries += own
        counts.append(len(own))
    table = np.array(entries, dtype=np.float64).reshape(-1, 4)
    return PastRequests(
        space.vectors[kept] if len(kept) < len(space.rows) else space.vectors,  # usually all: then without a copy
        np.array([0, *accumulate(counts)], dtype=np.int64),
        table[:, 0].astype(np.int64),
        *(np.ascontiguousarray(table[:, column]) for column in (1, 2, 3)),
    )


def _selected(snapshot: Snapshot) -> dict[int, dict[int, float]]:
    """Return by request position the rows that were selected for it, each with its number of selections."""
    topology, shown = snapshot.topology, snapshot.copies.representative
    found: dict[int, dict[int, float]] = {}
    for source, target, weight in snapshot.weighted_edges(SELECTED):
        row = int(snapshot.row_at[target])
        if row >= 0 and topology.types[source] == REQUEST:
            row = int(shown[row])  # what was chosen as a repository's, and failed once it was installed, is one
            own = found.setdefault(source, {})
            own[row] = own.get(row, 0.0) + weight  # a component and what was removed of its copies have one row
    return found


def _entries(
    snapshot: Snapshot, selected: dict[int, float], experiences: Mapping[str, Experience]
) -> list[tuple[int, float, float, float]]:
    """Return (row, share, accepted, refused) for each component that a request selected or refused.

    The share is 1 for the most accepted component, on a logarithmic scale.
    """
    by_row: dict[int, Experience] = {}
    for key, experience in experiences.items():
        if (row := snapshot.row_of(key)) >= 0:
            row = int(snapshot.copies.representative[row])
            by_row[row] = by_row[row].plus(experience) if row in by_row else experience
    accepted = {}
    for row, times in selected.items():
        experience = by_row.get(row, _UNKNOWN)
        # selections that left the log by compaction: the graph still counts them
        before = max(times - experience.selected, 0.0)
        still = before * CONTRADICTION_DISCOUNT**experience.refused + experience.accepted
        accepted[row] = still if experience.refused <= _PARDONED * still else 0.0
    shares = dict(zip(accepted, _shares(list(accepted.values())).tolist(), strict=True))
    return [
        (row, shares.get(row, 0.0), accepted.get(row, 0.0), by_row.get(row, _UNKNOWN).refused)
        for row in (accepted | by_row)
    ]


def _shares(accepted: Sequence[float]) -> Floats:
    # Logarithmic, not proportional: one busy day must not outvote all other requests.
    damped = np.log1p(np.array(accepted))
    return np.asarray(damped / max(damped.max(initial=0.0), 1e-9))
