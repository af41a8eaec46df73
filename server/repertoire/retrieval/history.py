"""Past requests: what served the ones most like this, and how far that is to be trusted here.

Where the same needs come back, nothing tells more; where every need is new, nothing misleads more. So the graph's own
past is asked first: of requests as near to another as the nearest now is to this one, how much of what served the
other had served them too? A component that no request ever selected keeps its own likelihood.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from repertoire.domain.component import REQUEST, SELECTED
from repertoire.ports import Vectors
from repertoire.retrieval.snapshot import Floats, Rows, Snapshot, Space, best_rows

_NEAREST = 12
_SHARPNESS = 6.0
_CHECKED = 300  # past requests that tell how far the past is to be trusted
_BANDWIDTH = 0.06
_CAUTION = 0.25
_EAGERNESS = 2.0
_HEAD = 150
_DOUBT = 3.0  # as if so many checked requests had been served by nothing that served another
_EVERY_SAME = 0.98  # a trust of 1 would silence all other evidence


@dataclass(frozen=True)
class Past:
    """What the past says of a question: the share of every row in what served requests like it."""

    share: Floats
    trust: float  # 0..1
    requests: int  # how many were like it

    @property
    def weight(self) -> float:
        """How much the past weighs beside everything else together."""
        trust = min(self.trust, _EVERY_SAME)
        return _EAGERNESS * trust * trust / (1.0 - trust)

    @classmethod
    def silent(cls, size: int) -> Past:
        """Return the past of which nothing is known."""
        return cls(np.zeros(size), 0.0, 0)


class History:
    """The past requests of one snapshot that something served."""

    def __init__(self, snapshot: Snapshot, space: Space) -> None:
        self._size = len(snapshot)
        served = _served(snapshot)
        kept = [index for index, position in enumerate(space.rows.tolist()) if position in served]
        self._vectors = space.vectors[kept]
        self._served = [served[int(space.rows[index])] for index in kept]
        self._checks = self._check() if len(kept) > 1 else None
        known = {row for rows, _ in self._served for row in rows.tolist()}
        # Past requests ask for the same few things again more than the next one will: where they touched little of
        # what there is, they vouch for each other more than for it.
        self._reach = (len(known) / max(self._size, 1)) ** _CAUTION

    def __len__(self) -> int:
        return len(self._served)

    def ask(self, vector: Vectors) -> Past:
        """Return what served the requests nearest to a question."""
        if self._checks is None:
            return Past.silent(self._size)
        near = _similarities(self._vectors, vector)
        share, nearest = self._vote(near)
        similarities, found = self._checks
        like = np.exp(-0.5 * ((nearest - similarities) / _BANDWIDTH) ** 2)
        trust = self._reach * float(like @ found / (like.sum() + _DOUBT))
        return Past(share, trust, int((near > nearest - _BANDWIDTH).sum()))

    def _check(self) -> tuple[Floats, Floats]:
        """Return, for past requests asked as if they were new, how near the nearest was and how much it knew."""
        step = max(1, len(self) // _CHECKED)
        similarities, found = [], []
        for index in range(0, len(self), step):
            near = _similarities(self._vectors, self._vectors[index])
            near[index] = -1.0
            share, nearest = self._vote(near)
            similarities.append(nearest)
            found.append(float(share[self._served[index][0]].sum()))
        return np.array(similarities), np.array(found)

    def _vote(self, near: Vectors) -> tuple[Floats, float]:
        count = min(_NEAREST, len(near))
        nearest = np.argpartition(-near, count - 1)[:count]
        weights = np.maximum(near[nearest].astype(np.float64), 0.0) ** _SHARPNESS
        share = np.zeros(self._size)
        for index, weight in zip(nearest.tolist(), weights.tolist(), strict=True):
            rows, parts = self._served[index]
            share[rows] += weight * parts
        total = float(share.sum())
        return (share / total if total > 0.0 else share), float(near[nearest].max())


def _similarities(vectors: Vectors, vector: Vectors) -> Vectors:
    return np.asarray(np.einsum("ij,j->i", vectors, vector))  # see vector.semantic


def with_past(scores: Floats, past: Past) -> Floats:
    """Return the log-odds of scores after the past was heard."""
    # Only the head is likely at all: ten thousand unlikely rows together would outweigh it.
    head = scores[best_rows(scores, _HEAD)]
    likely = scores - head[0] - np.log(np.exp(head - head[0]).sum())
    with np.errstate(divide="ignore"):
        return np.asarray(np.logaddexp(likely, np.log(past.weight * past.share)))


def _served(snapshot: Snapshot) -> dict[int, tuple[Rows, Floats]]:
    """Map the position of every request to the rows that served it and the part of each."""
    topology = snapshot.topology
    found: dict[int, tuple[list[int], list[float]]] = {}
    for index in np.flatnonzero(snapshot.related(SELECTED)).tolist():
        source, row = int(topology.source[index]), int(snapshot.row_at[topology.target[index]])
        if row >= 0 and topology.types[source] == REQUEST:
            rows, weights = found.setdefault(source, ([], []))
            rows.append(row)
            weights.append(float(topology.weight[index]))
    return {position: (np.array(rows), _parts(weights)) for position, (rows, weights) in found.items()}


def _parts(weights: Sequence[float]) -> Floats:
    # Often used is a little more likely, not in proportion: one busy day must not outvote every other request.
    damped = np.log1p(np.array(weights))
    return np.asarray(damped / damped.max())
