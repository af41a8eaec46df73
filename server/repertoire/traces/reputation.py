"""Computes the weight of a contributor's votes in a domain (a tag), from the votes of others on their traces.

A newcomer's word weighs little, all newcomers' together on one trace at most CROWD, nobody's on an own one:
however many voters are invented, they stay below what a few with a record say. Where a person vouches for somebody,
reputation flows from there alone, so that a ring whose members praise each other gains none.
"""

from __future__ import annotations

import functools
import math
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import date
from typing import NamedTuple

from repertoire.domain.confidence_intervals import wilson
from repertoire.domain.trace import Vote
from repertoire.traces.ageing import faded

Authorship = Mapping[str, tuple[str, tuple[str, ...]]]  # trace key → author and tags

NEWCOMER = 0.1  # the weight of a voter without a record in a domain
CROWD = 1.0  # the greatest weight of all newcomers together, equal to one voter with the best record
_ROUNDS = 3  # iterations of weighting voters by voters; the values have converged by then
EVERYWHERE = ""  # the domain of a trace without tags


@dataclass(frozen=True)
class Reputation:
    """Weights of voters by domain, from NEWCOMER to 1; `trusted` are voters that a person vouches for."""

    weights: Mapping[tuple[str, str], float] = field(default_factory=dict)
    trusted: frozenset[str] = frozenset()

    def of(self, voter: str, tags: Iterable[str]) -> float:
        """Return the weight of a voter on a trace with these tags: the greatest of the domains."""
        if voter in self.trusted:
            return 1.0
        return max((self.weights.get((voter, tag), NEWCOMER) for tag in domains(tags)), default=NEWCOMER)


def domains(tags: Iterable[str]) -> tuple[str, ...]:
    """Return the domains of a trace."""
    return tuple(tags) or (EVERYWHERE,)


def reputation(
    votes: Iterable[Vote], authorship: Authorship, today: date, *, trusted: frozenset[str] = frozenset()
) -> Reputation:
    """Compute the weight of each contributor from the votes of others on their traces."""
    fading = functools.cache(lambda at: faded(at, today))
    told = ((vote, *authorship[vote.trace]) for vote in votes if vote.trace in authorship)
    counted = [
        _Counted(vote.voter, author, domains(tags), vote.up, fading(vote.at))
        for vote, author, tags in told
        if author != vote.voter
    ]
    found = Reputation(trusted=trusted)
    for _ in range(_ROUNDS):
        found = Reputation(_weights(counted, found), trusted)
    return found


class _Counted(NamedTuple):
    """A vote on another's trace, with what is left of it after its age."""

    voter: str
    author: str
    domains: tuple[str, ...]
    up: bool
    left: float


def _weights(votes: Iterable[_Counted], before: Reputation) -> dict[tuple[str, str], float]:
    weight_of = functools.cache(before.of)
    ups: dict[tuple[str, str], list[float]] = defaultdict(list)
    every: dict[tuple[str, str], list[float]] = defaultdict(list)
    for voter, author, in_domains, up, left in votes:
        weight = weight_of(voter, in_domains)
        if before.trusted and weight <= NEWCOMER:
            continue
        for domain in in_domains:
            every[author, domain].append(weight * left)
            if up:
                ups[author, domain].append(weight * left)
    totals = {key: math.fsum(weights) for key, weights in every.items()}
    return {key: max(NEWCOMER, wilson(math.fsum(ups[key]), total).low) for key, total in totals.items() if total > 0}
