"""Caches the votes of a community and what they weigh, so that a search reads only the votes since the last one."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import date

from repertoire.app.traces.cache import VoteSummary
from repertoire.commons.traces import SharedVote, Traces
from repertoire.traces.reputation import Authorship, Reputation, reputation

_QUICK_S = 0.02  # a computation of reputations that takes less is made after every vote
_SHARE = 0.05  # of the time, that longer computations may take: after 100,000 votes one takes half a second


@dataclass(frozen=True)
class CachedVotes:
    """The votes of a community up to a revision, and the reputations that were computed last."""

    revision: int = 0
    version: object = None  # of votes, vouched members and day, to which the reputations belong
    by_trace: Mapping[str, tuple[SharedVote, ...]] = field(default_factory=dict)
    authors: Authorship = field(default_factory=dict)
    reputation: Reputation = field(default_factory=Reputation)
    due: float = 0.0  # time.monotonic() from which reputations are computed again

    def summary(self) -> VoteSummary:
        """Return the votes on each trace, and the reputation of each voter."""
        return VoteSummary(self.by_trace, self.reputation)


def updated(kept: CachedVotes, traces: Traces, revision: int, version: object, day: date) -> CachedVotes:
    """Return the cache with the votes up to a revision.

    Where there are so many votes that computing reputations takes long, these may be those of some seconds ago.
    """
    if kept.revision > revision:  # a backup was restored
        kept = CachedVotes()
    if kept.version == version:
        return kept
    news = [vote for _, vote in traces.votes(after=kept.revision, until=revision)]
    by_trace, authors = _with(kept.by_trace, news), kept.authors
    unknown = {vote.trace for vote in news} - authors.keys()
    if unknown:
        authors = {**authors, **traces.authorship(unknown)}
    now = replace(kept, revision=revision, by_trace=by_trace, authors=authors)
    begin = time.monotonic()
    if begin < kept.due:
        return now  # under the old version, so that a later question computes them
    every = [vote for votes in by_trace.values() for vote in votes]
    weighed = reputation(every, authors, day, trusted=traces.vouched())
    end = time.monotonic()
    due = end + (end - begin) / _SHARE if end - begin > _QUICK_S else 0.0
    return replace(now, version=version, reputation=weighed, due=due)


def _with(
    by_trace: Mapping[str, tuple[SharedVote, ...]], news: list[SharedVote]
) -> Mapping[str, tuple[SharedVote, ...]]:
    """Return the votes with newer ones in place of the same voters' older ones; withdrawn votes are left out."""
    found = dict(by_trace)
    for vote in news:
        others = tuple(other for other in found.get(vote.trace, ()) if other.voter != vote.voter)
        found[vote.trace] = others if vote.withdrawn else (*others, vote)
    return found
