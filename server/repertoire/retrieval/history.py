"""Past requests: what served the ones most like this, and how far that is to be trusted here.

Where the same needs come back, nothing tells more; where every need is new, nothing misleads more. So the graph's own
past is asked first: of requests as near to another as the nearest now is to this one, how much of what served the
other had served them too?

What was selected is a part of what would have served, often only what was shown first. So the past shares out anew no
more than the likelihood of those components that it passed over: a component passes for passed over as far as it was as
likely to be meant by the requests like this as it is now, or was selected often. What is new, or meant by this question
alone, keeps its likelihood whatever others were selected.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from repertoire.domain.answer import BODY_SPACE, DESCRIPTION_SPACE
from repertoire.domain.component import REQUEST, SELECTED
from repertoire.ports import Vectors
from repertoire.retrieval.snapshot import Floats, Rows, Snapshot, Space, best_rows
from repertoire.retrieval.vector import nearness

_NEAREST = 12
_SHARPNESS = 6.0
_CHECKED = 300  # past requests that tell how far the past is to be trusted
_BANDWIDTH = 0.06
_CAUTION = 0.25
_EAGERNESS = 2.0
_HEAD = 150
_DOUBT = 3.0  # as if so many checked requests had been served by nothing that served another
_EVERY_SAME = 0.98  # a trust of 1 would silence all other evidence
_NONE = 1e-9

# Chosen on ultratool with a fifth of its components withheld from the past, and metatool's pairs, of whose 199 tools 15
# serve: the one wants the past to leave alone what it did not pass over, the other to drop what it did.
_CLOSER = 0.03  # of similarity to one than to another: e times as likely to be meant by it
_PASSED_OVER = 4.0
_SELECTED_ONCE = 1.0  # selections of a component before the past is held to know it well, wherever it was likely


@dataclass(frozen=True)
class Passed:
    """How far the requests like a question passed over what they did not select."""

    spaces: tuple[Space, ...]
    question: Vectors
    requests: Vectors  # a row each
    weights: Floats  # of the requests, 1 together
    selected: Floats  # how many requests of all selected each row

    def over(self, rows: Rows, likely: Floats) -> Floats:
        """Return for rows, of which each is so likely now, from 0, not passed over, to 1."""
        near = self._nearness(self.question, rows)
        was = np.zeros(len(rows))
        for request, weight in zip(self.requests, self.weights.tolist(), strict=True):
            odds = likely * np.exp((self._nearness(request, rows) - near) / _CLOSER)
            was += weight * odds / odds.sum()
        unlike = np.exp(-_PASSED_OVER * was / likely)
        times = self.selected[rows]
        return np.asarray(1.0 - unlike * _SELECTED_ONCE / (times + _SELECTED_ONCE))

    def _nearness(self, vector: Vectors, rows: Rows) -> Floats:
        return np.asarray(np.max([nearness(space, vector, rows) for space in self.spaces], axis=0))


@dataclass(frozen=True)
class Past:
    """What the past says of a question: the share of every row in what served requests like it."""

    share: Floats
    trust: float  # 0..1
    requests: int  # how many were like it
    passed: Passed | None = None

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
        self._spaces = (snapshot.spaces[DESCRIPTION_SPACE], snapshot.spaces[BODY_SPACE])
        served = _served(snapshot)
        kept = [index for index, position in enumerate(space.rows.tolist()) if position in served]
        self._vectors = space.vectors[kept] if len(kept) < len(space.rows) else space.vectors  # as a rule all are
        self._served = [served[int(space.rows[index])] for index in kept]
        self._checks = self._check() if len(kept) > 1 else None
        self._selected = np.zeros(self._size)
        for rows, _ in self._served:
            self._selected[rows] += 1.0
        # Past requests ask for the same few things again more than the next one will: where they touched little of
        # what there is, they vouch for each other more than for it.
        self._reach = (np.count_nonzero(self._selected) / max(self._size, 1)) ** _CAUTION

    def __len__(self) -> int:
        return len(self._served)

    def ask(self, vector: Vectors) -> Past:
        """Return what served the requests nearest to a question."""
        if self._checks is None:
            return Past.silent(self._size)
        near = _similarities(self._vectors, vector)
        share, nearest = self._vote(near)
        best, weights = _nearest(near)
        passed = Passed(self._spaces, vector, self._vectors[best], weights / max(weights.sum(), _NONE), self._selected)
        similarities, found = self._checks
        like = np.exp(-0.5 * ((nearest - similarities) / _BANDWIDTH) ** 2)
        trust = self._reach * float(like @ found / (like.sum() + _DOUBT))
        return Past(share, trust, int((near > nearest - _BANDWIDTH).sum()), passed)

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
        nearest, weights = _nearest(near)
        share = np.zeros(self._size)
        for index, weight in zip(nearest.tolist(), weights.tolist(), strict=True):
            rows, parts = self._served[index]
            share[rows] += weight * parts
        total = float(share.sum())
        return (share / total if total > 0.0 else share), float(near[nearest].max())


def _nearest(near: Vectors) -> tuple[Rows, Floats]:
    """Return the nearest requests, in no order, and what each counts for."""
    count = min(_NEAREST, len(near))
    nearest = np.argpartition(-near, count - 1)[:count]
    return nearest, np.maximum(near[nearest].astype(np.float64), 0.0) ** _SHARPNESS


def _similarities(vectors: Vectors, vector: Vectors) -> Vectors:
    return np.asarray(np.einsum("ij,j->i", vectors, vector))  # see vector.semantic


def with_past(scores: Floats, past: Past) -> Floats:
    """Return the log-odds of scores after the past was heard: it shares out anew what it passed over."""
    if past.passed is None:
        return scores
    # Only the head is likely at all: ten thousand unlikely rows together would outweigh it.
    rows = best_rows(scores, _HEAD)
    head = scores[rows]
    every = head[0] + np.log(np.exp(head - head[0]).sum())
    likely = np.exp(head - every)
    passed = np.zeros(len(scores))
    passed[rows] = past.passed.over(rows, likely)
    given = past.weight / (1.0 + past.weight)
    shared = given * float(passed[rows] @ likely)
    with np.errstate(divide="ignore"):
        return np.asarray(np.logaddexp(scores + np.log1p(-given * passed), every + np.log(shared * past.share)))


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
