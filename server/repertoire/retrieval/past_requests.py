"""Past requests as arrays: which rows served each and to what part, and how far each row was accepted and refused."""

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


@dataclass(frozen=True)
class PastRequests:
    """What is known of requests: entry `begins[i]` up to `begins[i + 1]` of every array belongs to `vectors[i]`."""

    vectors: Vectors
    begins: Rows
    rows: Rows
    parts: Floats  # 1 for what served a request most, 0 for what only was refused
    accepted: Floats
    refused: Floats

    def __len__(self) -> int:
        return len(self.vectors)

    def of(self, index: int) -> slice:
        """Return where the entries of one request lie."""
        return slice(int(self.begins[index]), int(self.begins[index + 1]))

    def served(self, index: int) -> Rows:
        """Return the rows that served a request; none where all that it selected failed."""
        own = self.of(index)
        return np.asarray(self.rows[own][self.parts[own] > 0.0])

    def times_selected(self, size: int) -> Floats:
        """Return for each of so many rows how many requests it served."""
        return np.bincount(self.rows[self.parts > 0.0], minlength=size).astype(np.float64)


def past_requests(snapshot: Snapshot, experiences: Experiences) -> PastRequests:
    """Return the requests of a snapshot that something was selected for, with what their experience was."""
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
        space.vectors[kept] if len(kept) < len(space.rows) else space.vectors,  # as a rule all are: without a copy
        np.array([0, *accumulate(counts)], dtype=np.int64),
        table[:, 0].astype(np.int64),
        *(np.ascontiguousarray(table[:, column]) for column in (1, 2, 3)),
    )


def _selected(snapshot: Snapshot) -> dict[int, dict[int, float]]:
    """Map the position of every request to the rows that were selected for it, and how often."""
    topology = snapshot.topology
    found: dict[int, dict[int, float]] = {}
    for index in np.flatnonzero(snapshot.related(SELECTED)).tolist():
        source, row = int(topology.source[index]), int(snapshot.row_at[topology.target[index]])
        if row >= 0 and topology.types[source] == REQUEST:
            found.setdefault(source, {})[row] = float(topology.weight[index])
    return found


def _entries(
    snapshot: Snapshot, selected: dict[int, float], told: Mapping[str, Experience]
) -> list[tuple[int, float, float, float]]:
    """Return row, part, accepted and refused of everything that a request selected or refused."""
    known = {row: one for row, one in ((snapshot.row_of(key), one) for key, one in told.items()) if row >= 0}
    accepted = {}
    for row, times in selected.items():
        one = known.get(row, _UNKNOWN)
        before = max(times - one.selected, 0.0)  # the log lets go of what is old, the graph keeps its count
        accepted[row] = before * CONTRADICTION_DISCOUNT**one.refused + one.accepted
    parts = dict(zip(accepted, _parts(list(accepted.values())).tolist(), strict=True))
    return [
        (row, parts.get(row, 0.0), accepted.get(row, 0.0), known.get(row, _UNKNOWN).refused)
        for row in (accepted | known)
    ]


def _parts(accepted: Sequence[float]) -> Floats:
    # Often used is a little more likely, not in proportion: one busy day must not outvote every other request.
    damped = np.log1p(np.array(accepted))
    return np.asarray(damped / max(damped.max(initial=0.0), 1e-9))
