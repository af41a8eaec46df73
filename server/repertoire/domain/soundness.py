"""What speaks against a component from outside its own text, and how far all of it together counts: within a bound."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

GONE, LOST, MOVED, STALE, FLAGGED, ADVISED, AFFECTED, POSSIBLE, LACKING = (
    "gone",  # what it needs left its source
    "lost",  # its own source cannot be read any more
    "moved",  # its source is elsewhere now, and still sends there
    "stale",  # what it needs is stale
    "flagged",  # static checks found something grave in what it needs
    "advised against",  # what it needs was muted, or does harm in use
    "affected",  # it pins a version of a package that an advisory concerns
    "possible",  # it allows such a version
    "lacking",  # what it requires is not on this machine
)
LEAST = 0.5  # however much speaks against it: troubles of others must not bury what fits
GRAVE = frozenset((GONE, FLAGGED, AFFECTED))
_COSTS = {
    GONE: 0.7,
    LOST: 0.9,
    MOVED: 1.0,
    STALE: 0.9,
    FLAGGED: 0.7,
    ADVISED: 0.8,
    AFFECTED: 0.6,
    POSSIBLE: 0.95,
    LACKING: 0.9,
}


@dataclass(frozen=True)
class Trouble:
    """One thing that speaks against a component, said in one line."""

    kind: str
    text: str


def soundness(troubles: Iterable[Trouble]) -> float:
    """Return how sound something is: 1 where nothing speaks against it, never below the bound. A kind counts once."""
    score = 1.0
    for kind in {trouble.kind for trouble in troubles}:
        score *= _COSTS[kind]
    return max(score, LEAST)
