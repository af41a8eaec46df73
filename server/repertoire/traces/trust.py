"""Computes the trust in a trace: Wilson's lower bound of its votes, each weighted by the voter and its age.

One vote a voter and trace, the last one; an author's own counts for nothing, save a
person's on their own machine; old ones fade.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from datetime import date

from repertoire.domain.confidence_intervals import wilson
from repertoire.domain.trace import FAILED, PARTLY, Trace, Trust, Vote
from repertoire.traces.ageing import faded
from repertoire.traces.reputation import CROWD, NEWCOMER, Reputation

# The author's own outcome is the prior, with less weight than one voter with a record.
_OWN_WORD = {FAILED: (0.0, 0.5), PARTLY: (0.25, 0.5)}
_WORKED = (0.5, 0.5)


def latest(votes: Iterable[Vote]) -> tuple[Vote, ...]:
    """Return the last vote of each voter on each trace."""
    last: dict[tuple[str, str], Vote] = {}
    for vote in sorted(votes, key=lambda vote: vote.at):
        last[vote.trace, vote.voter] = vote
    return tuple(last.values())


def trust(trace: Trace, votes: Iterable[Vote], reputation: Reputation, today: date) -> Trust:
    """Compute the trust in a trace from the votes on it."""
    said = [vote for vote in latest(votes) if vote.trace == trace.key]
    counted = [vote for vote in said if vote.voter != trace.author or vote.voter in reputation.trusted]
    good, total = _OWN_WORD.get(trace.outcome, _WORKED)
    weighed = list(_weighed(trace, counted, reputation, today))
    # `fsum`: the same to the last digit in a home and in a commons, which read the votes in another order
    found = wilson(
        math.fsum((good, *(weight * up for up, weight in weighed))), math.fsum((total, *(w for _, w in weighed)))
    )
    return Trust(
        found.low,
        found.high,
        sum(vote.up for vote in counted),
        len(counted),
        max((vote.at for vote in counted), default=""),
        tuple(sorted({vote.tag for vote in counted if vote.tag and not vote.up})),
    )


def _weighed(trace: Trace, votes: Iterable[Vote], reputation: Reputation, today: date) -> Iterator[tuple[bool, float]]:
    """Yield each vote with its weight; all newcomers together weigh at most CROWD."""
    said = [(vote, reputation.of(vote.voter, trace.tags), faded(vote.at, today)) for vote in votes]
    crowd = math.fsum(weight * left for _, weight, left in said if weight <= NEWCOMER)
    share = min(1.0, CROWD / crowd) if crowd else 1.0
    for vote, weight, left in said:
        yield vote.up, weight * left * (share if weight <= NEWCOMER else 1.0)


def by_trace(votes: Iterable[Vote]) -> Mapping[str, list[Vote]]:
    """Group votes by their trace."""
    found: dict[str, list[Vote]] = {}
    for vote in votes:
        found.setdefault(vote.trace, []).append(vote)
    return found
