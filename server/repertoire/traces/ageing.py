"""Computes how traces and votes lose weight with age: by the shortest half-life of a trace's tags, down to a floor."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import date

from repertoire.domain.trace import EXPIRED, Trace

VOTE_HALF_LIFE = 90.0  # days
USUAL = 365.0
FLOOR = 0.5  # the least weight of an old trace: most errors keep their meaning for years
_OUT_OF_DATE = 0.5  # factor for a trace whose review day has come

HALF_LIVES: Mapping[str, float] = {
    **dict.fromkeys("react vue next nextjs nuxt svelte angular vite webpack expo flutter remix astro".split(), 180.0),
    **dict.fromkeys("tailwind css".split(), 270.0),
    **dict.fromkeys("aws gcp azure".split(), 548.0),
    **dict.fromkeys("docker kubernetes k8s postgres postgresql redis linux terraform mysql nginx bash".split(), 730.0),
}


def half_life(tags: Iterable[str]) -> float:
    """Return the half-life in days of a trace with these tags: the shortest of theirs."""
    return min((HALF_LIVES.get(tag.lower(), USUAL) for tag in tags), default=USUAL)


def days_since(at: str, today: date) -> float:
    """Return the days since a time in the store's format; 0 if it is in the future or cannot be read."""
    try:
        return float(max((today - date.fromisoformat(at[:10])).days, 0))
    except ValueError:
        return 0.0


def faded(at: str, today: date) -> float:
    """Return the weight of a vote after its age, 1 down to 0."""
    return float(0.5 ** (days_since(at, today) / VOTE_HALF_LIFE))


def recency(tags: Iterable[str], at: str, today: date) -> float:
    """Return the weight of a trace by the time since it was last changed or confirmed: 1 down to FLOOR."""
    return float(FLOOR + (1 - FLOOR) * 0.5 ** (days_since(at, today) / half_life(tags)))


def expired(trace: Trace, today: date) -> bool:
    """Tell whether a trace's own conditions say that it has expired."""
    overdue = bool(trace.review_after) and trace.review_after[:10] <= today.isoformat()
    return trace.status == EXPIRED or overdue


def validity(trace: Trace, today: date) -> float:
    """Return the factor on a trace's score: below 1 if its status is expired or its review is overdue."""
    return _OUT_OF_DATE if expired(trace, today) else 1.0
