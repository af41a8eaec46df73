"""Scores components by k nearest past requests that they served, weighted by a trust that is checked on past requests.

Past requests are the best evidence where needs recur, and misleading where every need is new. So trust is measured on
the past requests themselves, leaving one out at a time: for a nearest request of this similarity, which share of the
components that served it served the left-out request too?

Selected components are only some of those that would have served, often those shown first. So only the likelihood of
components that past requests *passed over* is given to selected ones. A component counts as passed over as far as the
similar requests were as likely to mean it as the question is, or if it was selected often. A component that is new, or
likely for this question alone, keeps its likelihood.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from repertoire.domain.answer import BODY_SPACE, DESCRIPTION_SPACE
from repertoire.domain.experience import Experiences
from repertoire.ports import Vectors
from repertoire.retrieval.arrays import Floats, Mask, Rows, Space, best_rows, dot_products
from repertoire.retrieval.past_requests import past_requests
from repertoire.retrieval.snapshot import Snapshot
from repertoire.retrieval.vector import nearness

_NEIGHBOURS = 12  # nearest past requests that vote
_SHARPNESS = 6.0  # exponent that turns a cosine into a vote's weight
SAME_REQUEST_THRESHOLD = 0.5  # a component that served a similar past request is trusted from this probability on
_CHECKED_REQUESTS = 300  # past requests that are left out in turn to estimate trust
_BANDWIDTH = 0.06  # standard deviation, in cosine, of the kernel over checked requests
_CAUTION = 0.25  # exponent on the share of components that past requests selected
_EAGERNESS = 2.0  # factor on the weight of past requests
_HEAD = 150  # rows that may pass likelihood on
_TRUST_PRIOR = 3.0  # weight of the prior trust, in checked requests
_SAME_REQUEST_TRUST = 0.98  # trust at most, even for the same words; 1 would silence all other evidence
_MOSTLY_REFUSED = 0.7  # acceptance below which what serves nearly as likely is named first
_REFUSED_AGAIN = 0.35  # acceptance of what similar requests refused twice and never accepted, or in such a ratio
_ACCEPTANCE_PRIOR = 1.0  # weight of the prior, in requests that accepted a component
# A use of this weight lends half the trust of a new one: with a half-life of 90 days, one of a year ago. Till then what
# was used once is the best that is known; after two years next to nothing is left of it.
_STALE = 0.06
_SAME, _UNLIKE, _ALIKE = 0.9, 0.6, 0.95  # prior trust, and the cosines where it begins and is reached: see _assumed

# Chosen on two sets with opposite demands. Ultratool, with a fifth of its components withheld from past requests, must
# not demote unseen components; Metatool's pairs, where 15 of 199 tools are right, must demote those passed over.
_LIKELIHOOD_BANDWIDTH = 0.03  # increase of a cosine that makes a component e times as likely to be meant
_PASSED_OVER = 4.0  # rate at which a component that similar requests could have meant counts as passed over
_SELECTED_ONCE = 1.0  # selections that count half towards being known to past requests


@dataclass(frozen=True)
class PassedOver:
    """Computes how probably similar requests saw a component that could have served them, and selected another."""

    spaces: tuple[Space, ...]
    question: Vectors
    requests: Vectors  # vectors of the similar requests
    weights: Floats  # weights of the similar requests, which sum up to 1
    selected: Floats  # by row, the number of all past requests that selected it

    def over(self, rows: Rows, likely: Floats) -> Floats:
        """Return how far each row was passed over, 0 to 1; `likely` are the rows' present likelihoods."""
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
    """The evidence of past requests for a question: shares of the rows that served similar requests, and the trust."""

    share: Floats
    trust: float  # 0 to 1
    requests: int  # number of similar requests
    passed: PassedOver | None = None
    wanted: Floats | None = None  # by row, the acceptance by similar requests, 0 to 1

    @property
    def weight(self) -> float:
        """The weight of past requests relative to all other evidence together."""
        trust = min(self.trust, _SAME_REQUEST_TRUST)
        return _EAGERNESS * trust * trust / (1.0 - trust)

    def of(self, row: int) -> float:
        """Return how far similar requests speak for a row: its share, as far as they are trusted."""
        return float(self.share[row]) * self.trust

    def supporting(self, sure: float) -> float:
        """Return a confidence with similar requests as an independent reason for it."""
        return 1.0 - (1.0 - sure) * (1.0 - self.trust)

    def acceptance(self, row: int) -> float:
        """Return how far similar requests accepted a row, 0 to 1; 1 where none refused it."""
        return 1.0 if self.wanted is None else float(self.wanted[row])

    def refused(self, row: int) -> bool:
        """Tell whether similar requests mostly refused a row: its calls failed, or another was used in its place."""
        return self.acceptance(row) < _MOSTLY_REFUSED

    def refused_again(self, row: int) -> bool:
        """Tell whether similar requests refused a row more than once and hardly ever accepted it."""
        return self.acceptance(row) < _REFUSED_AGAIN

    @property
    def speaks(self) -> bool:
        """Whether the evidence changes the score of any row."""
        return self.weight > 0.0 or (self.wanted is not None and bool((self.wanted < 1.0).any()))

    def among(self, allowed: Mask, share: Floats, wanted: Floats | None) -> RequestEvidence:
        """Return the evidence for an answer of these rows: what else served, as before a dismissal, is none for it."""
        trust = self.trust * min(float(share[allowed].sum()), 1.0)
        return replace(self, share=share, trust=trust, wanted=wanted)

    @classmethod
    def silent(cls, size: int) -> RequestEvidence:
        """Return evidence without any past requests."""
        return cls(np.zeros(size), 0.0, 0)


class RequestHistory:
    """The past requests of one snapshot for which a component was selected, with their checked trust."""

    def __init__(self, snapshot: Snapshot, experiences: Experiences | None = None) -> None:
        """Read the requests and check them; without `experiences` selections count whatever their outcome."""
        self._size = len(snapshot)
        self._spaces = (snapshot.spaces[DESCRIPTION_SPACE], snapshot.spaces[BODY_SPACE])
        self._requests = past_requests(snapshot, experiences or {})
        self._selected = self._requests.times_selected(self._size)
        # Past requests repeat each other more than the next request repeats them: where they selected only a small
        # share of all components, the check overestimates trust.
        # A plain number, as all that follows from it: of numpy's truth values no JSON can be written.
        self._reach = float((np.count_nonzero(self._selected) / max(self._size, 1)) ** _CAUTION)
        self._checks = self._check()

    def __len__(self) -> int:
        return len(self._requests)

    def ask(self, vector: Vectors) -> RequestEvidence:
        """Return the evidence of the past requests nearest to a question's vector."""
        if not len(self):
            return RequestEvidence.silent(self._size)
        requests = self._requests
        near = dot_products(requests.vectors, vector)
        best, weights = _nearest(near)
        wanted = self._wanted(best, near[best].tolist())
        served = self._vote(best, weights)
        share = served * wanted
        # Trust falls with the share of served components that were refused later.
        still = float(share.sum()) / max(float(served.sum()), np.finfo(np.float64).tiny)
        # A request whose components all failed says what not to take; it lends no trust to what farther ones took.
        lends = [bool(len(self._requests.served(index))) for index in best.tolist()]
        nearest = float(near[best[lends]].max(initial=-1.0))
        passed = PassedOver(self._spaces, vector, requests.vectors[best], _shared(weights), self._selected)
        like = int((near > nearest - _BANDWIDTH).sum())
        trust = still * self._freshness(best[lends], weights[lends]) * self._trust(nearest)
        return RequestEvidence(_shared(share), trust, like, passed, wanted)

    def _freshness(self, nearest: Rows, weights: Floats) -> float:
        """Return how far these requests still count for their age, 0 to 1."""
        lately = np.array([self._requests.accepted[self._requests.of(index)].max() for index in nearest.tolist()])
        return float(_shared(weights) @ np.minimum((1.0 + _STALE) * lately / (lately + _STALE), 1.0))

    def _check(self) -> tuple[Floats, Floats]:
        """Return leave-one-out results: nearest cosines, and the shares of votes for the right components."""
        step = max(1, len(self) // _CHECKED_REQUESTS)
        similarities, found = [], []
        for index in range(0, len(self) if len(self) > 1 else 0, step):
            served = self._requests.served(index)
            if not len(served):
                continue
            near = dot_products(self._requests.vectors, self._requests.vectors[index])
            near[index] = -1.0
            best, weights = _nearest(near)
            similarities.append(float(near[best].max()))
            found.append(float(_shared(self._vote(best, weights))[served].sum()))
        return np.array(similarities), np.array(found)

    def _vote(self, nearest: Rows, weights: Floats) -> Floats:
        """Return the weighted votes of these requests for the rows that served them."""
        found = np.zeros(self._size)
        for index, weight in zip(nearest.tolist(), weights.tolist(), strict=True):
            own = self._requests.of(index)
            found[self._requests.rows[own]] += weight * self._requests.parts[own]
        return found

    def _trust(self, similarity: float) -> float:
        """Return the chance that a component which served a request of this cosine serves the question."""
        similarities, found = self._checks
        like = np.exp(-0.5 * ((similarity - similarities) / _BANDWIDTH) ** 2)
        checks, prior = float(like.sum()), float(_assumed(similarity))
        if checks <= 0.0:
            return prior
        checked = float(like @ found) / checks
        # The caution is about trust above the prior: what checks bear out is believed as far as the prior goes, or one
        # component that serves the same kind of request again and again would be trusted less with each use.
        believed = max(self._reach * checked, min(prior, checked))
        return (checks * believed + _TRUST_PRIOR * prior) / (checks + _TRUST_PRIOR)

    def _wanted(self, nearest: Rows, similarities: Sequence[float]) -> Floats:
        """Return each row's acceptance by similar requests, 1 where none refused it.

        Requests count by their trust. It is the mean of a Beta distribution divided by the prior's mean.
        """
        accepted, refused = np.zeros(self._size), np.zeros(self._size)
        for index, similarity in zip(nearest.tolist(), similarities, strict=True):
            own, trust = self._requests.of(index), self._trust(similarity)
            accepted[self._requests.rows[own]] += trust * self._requests.accepted[own]
            refused[self._requests.rows[own]] += trust * self._requests.refused[own]
        return np.asarray((_ACCEPTANCE_PRIOR + accepted) / (_ACCEPTANCE_PRIOR + accepted + refused))


def _assumed(similarity: Floats | float) -> Floats:
    """Return the prior chance that a component which served a request of this cosine serves another request.

    On train questions of each of seven labelled sets, the nearest request's answers serve in 8 of 10 cases from a
    cosine of .8 and in 9 from .95 on; below .6 it is as few as 1 of 8 in the worst set.
    """
    return np.asarray(_SAME * np.clip((similarity - _UNLIKE) / (_ALIKE - _UNLIKE), 0.0, 1.0))


def _nearest(near: Vectors) -> tuple[Rows, Floats]:
    """Return the nearest requests, unordered, and their weights; one with the same words weighs ten times as much."""
    count = min(_NEIGHBOURS, len(near))
    nearest = np.argpartition(-near, count - 1)[:count]
    similarities = near[nearest].astype(np.float64)
    return nearest, np.maximum(similarities, 0.0) ** _SHARPNESS / (1.0 - _assumed(similarities))


def _shared(amounts: Floats) -> Floats:
    total = float(amounts.sum())
    return amounts / total if total > 0.0 else amounts


def with_past_requests(scores: Floats, past: RequestEvidence) -> Floats:
    """Return scores after past requests moved likelihood from passed-over components to selected ones."""
    if past.passed is None:
        return scores
    scores = scores + np.log(past.wanted) if past.wanted is not None else scores
    # Only rows of the head pass likelihood on: together ten thousand unlikely rows would outweigh it.
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
