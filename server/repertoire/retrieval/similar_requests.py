"""Finds similar past requests, the components that served them, and how far to trust them here.

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
from repertoire.domain.experience import Experiences
from repertoire.ports import Vectors
from repertoire.retrieval.arrays import Floats, Rows, Space, best_rows
from repertoire.retrieval.past_requests import past_requests
from repertoire.retrieval.snapshot import Snapshot
from repertoire.retrieval.vector import nearness

_NEIGHBOURS = 12
_SHARPNESS = 6.0
_CHECKED_REQUESTS = 300  # past requests that are checked to learn how far past requests can be trusted
_BANDWIDTH = 0.06
_CAUTION = 0.25
_EAGERNESS = 2.0
_HEAD = 150
_TRUST_PRIOR = 3.0  # prior: counts as so many checked requests for which similar ones were of no help
_SAME_REQUEST_TRUST = 0.98  # trust where every word is the same; 1 would silence all other evidence
_ACCEPTANCE_PRIOR = 1.0  # prior: counts as so many requests that accepted a component which none refused
_SAME, _UNLIKE, _ALIKE = 0.9, 0.6, 0.95  # see _assumed

# Chosen on two sets that want opposite things. Ultratool, with a fifth of its components withheld from the past: do not
# demote what past requests never saw. Metatool's pairs, where 15 of 199 tools are right: demote what they passed over.
_LIKELIHOOD_BANDWIDTH = 0.03  # this much more similarity to a request makes a component e times as likely to be meant
_PASSED_OVER = 4.0
_SELECTED_ONCE = 1.0  # after so many selections past requests are assumed to know a component


@dataclass(frozen=True)
class PassedOver:
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
            odds = likely * np.exp((self._nearness(request, rows) - near) / _LIKELIHOOD_BANDWIDTH)
            was += weight * odds / odds.sum()
        unlike = np.exp(-_PASSED_OVER * was / likely)
        times = self.selected[rows]
        return np.asarray(1.0 - unlike * _SELECTED_ONCE / (times + _SELECTED_ONCE))

    def _nearness(self, vector: Vectors, rows: Rows) -> Floats:
        return np.asarray(np.max([nearness(space, vector, rows) for space in self.spaces], axis=0))


@dataclass(frozen=True)
class RequestEvidence:
    """The evidence of past requests for a question: each row's share among the components that served similar ones."""

    share: Floats
    trust: float  # 0..1
    requests: int  # how many were like it
    passed: PassedOver | None = None
    wanted: Floats | None = None  # of each row, by requests like it that had it before them

    @property
    def weight(self) -> float:
        """How much the past weighs beside everything else together."""
        trust = min(self.trust, _SAME_REQUEST_TRUST)
        return _EAGERNESS * trust * trust / (1.0 - trust)

    @property
    def speaks(self) -> bool:
        """Whether it says anything for or against any row."""
        return self.weight > 0.0 or (self.wanted is not None and bool((self.wanted < 1.0).any()))

    @classmethod
    def silent(cls, size: int) -> RequestEvidence:
        """Return evidence without any past requests."""
        return cls(np.zeros(size), 0.0, 0)


class RequestHistory:
    """The past requests of one snapshot that something was selected for."""

    def __init__(self, snapshot: Snapshot, experiences: Experiences | None = None) -> None:
        """Without experiences what was selected is known, but not what became of it."""
        self._size = len(snapshot)
        self._spaces = (snapshot.spaces[DESCRIPTION_SPACE], snapshot.spaces[BODY_SPACE])
        self._requests = past_requests(snapshot, experiences or {})
        self._selected = self._requests.times_selected(self._size)
        # Past requests ask for the same few things again more than the next one will: where they touched little of
        # what there is, they vouch for each other more than for it.
        self._reach = (np.count_nonzero(self._selected) / max(self._size, 1)) ** _CAUTION
        self._checks = self._check()

    def __len__(self) -> int:
        return len(self._requests)

    def ask(self, vector: Vectors) -> RequestEvidence:
        """Return the components that served the requests nearest to a question."""
        if not len(self):
            return RequestEvidence.silent(self._size)
        requests = self._requests
        near = _similarities(requests.vectors, vector)
        best, weights = _nearest(near)
        wanted = self._wanted(best, near[best].tolist())
        served = self._vote(best, weights)
        share = served * wanted
        # What served like requests and was refused since is no reason to be sure of anything.
        still = float(share.sum()) / max(float(served.sum()), np.finfo(np.float64).tiny)
        nearest = float(near[best].max())
        passed = PassedOver(self._spaces, vector, requests.vectors[best], _shared(weights), self._selected)
        like = int((near > nearest - _BANDWIDTH).sum())
        return RequestEvidence(_shared(share), still * self._trust(nearest), like, passed, wanted)

    def _check(self) -> tuple[Floats, Floats]:
        """Return, for past requests asked as if they were new, how near the nearest was and how much it knew."""
        step = max(1, len(self) // _CHECKED_REQUESTS)
        similarities, found = [], []
        for index in range(0, len(self) if len(self) > 1 else 0, step):
            served = self._requests.served(index)
            if not len(served):
                continue
            near = _similarities(self._requests.vectors, self._requests.vectors[index])
            near[index] = -1.0
            best, weights = _nearest(near)
            similarities.append(float(near[best].max()))
            found.append(float(_shared(self._vote(best, weights))[served].sum()))
        return np.array(similarities), np.array(found)

    def _vote(self, nearest: Rows, weights: Floats) -> Floats:
        """Return how much of each row served these requests."""
        found = np.zeros(self._size)
        for index, weight in zip(nearest.tolist(), weights.tolist(), strict=True):
            own = self._requests.of(index)
            found[self._requests.rows[own]] += weight * self._requests.parts[own]
        return found

    def _trust(self, similarity: float) -> float:
        """Return the chance that a component which served a request this similar serves the question."""
        similarities, found = self._checks
        like = np.exp(-0.5 * ((similarity - similarities) / _BANDWIDTH) ** 2)
        known = self._reach * float(like @ found) + _TRUST_PRIOR * float(_assumed(similarity))
        return known / (float(like.sum()) + _TRUST_PRIOR)

    def _wanted(self, nearest: Rows, similarities: Sequence[float]) -> Floats:
        """Return for each row how far requests like the question, which had it before them, wanted it: 1 to 0.

        Each counts as far as it is likely to have asked the same. The mean of a Beta distribution over its prior's.
        """
        accepted, refused = np.zeros(self._size), np.zeros(self._size)
        for index, similarity in zip(nearest.tolist(), similarities, strict=True):
            own, trust = self._requests.of(index), self._trust(similarity)
            accepted[self._requests.rows[own]] += trust * self._requests.accepted[own]
            refused[self._requests.rows[own]] += trust * self._requests.refused[own]
        return np.asarray((_ACCEPTANCE_PRIOR + accepted) / (_ACCEPTANCE_PRIOR + accepted + refused))


def _assumed(similarity: Floats | float) -> Floats:
    """Return the prior chance that a component which served a request this similar serves another one.

    On train questions of seven labelled sets the nearest one's answers serve in 8 of 10 cases from .8 and in 9 from .95
    on, in each of them; below .6 in as few as 1 of 8, in the least of them.
    """
    return np.asarray(_SAME * np.clip((similarity - _UNLIKE) / (_ALIKE - _UNLIKE), 0.0, 1.0))


def _nearest(near: Vectors) -> tuple[Rows, Floats]:
    """Return the nearest requests, in no order, and what each counts for; the same one asked again, ten times."""
    count = min(_NEIGHBOURS, len(near))
    nearest = np.argpartition(-near, count - 1)[:count]
    similarities = near[nearest].astype(np.float64)
    return nearest, np.maximum(similarities, 0.0) ** _SHARPNESS / (1.0 - _assumed(similarities))


def _shared(amounts: Floats) -> Floats:
    total = float(amounts.sum())
    return amounts / total if total > 0.0 else amounts


def _similarities(vectors: Vectors, vector: Vectors) -> Vectors:
    return np.asarray(np.einsum("ij,j->i", vectors, vector))  # see vector.semantic


def with_past(scores: Floats, past: RequestEvidence) -> Floats:
    """Return scores with the evidence of past requests: shares move from components that they passed over."""
    if past.passed is None:
        return scores
    scores = scores + np.log(past.wanted) if past.wanted is not None else scores
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
