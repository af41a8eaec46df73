"""How traces and votes age: by the half-life of the fastest-moving of a trace's tags, never below a floor."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import date

from repertoire.domain.trace import EXPIRED, Trace

VOTE_HALF_LIFE = 90.0  # days
USUAL = 365.0
FLOOR = 0.5  # what an old trace is still worth: most errors mean for years what they meant
_OUT_OF_DATE = 0.5  # times that, where its own review day has passed

HALF_LIVES: Mapping[str, float] = {
    **dict.fromkeys("react vue next nextjs nuxt svelte angular vite webpack expo flutter remix astro".split(), 180.0),
    **dict.fromkeys("tailwind css".split(), 270.0),
    **dict.fromkeys("aws gcp azure".split(), 548.0),
    **dict.fromkeys("docker kubernetes k8s postgres postgresql redis linux terraform mysql nginx bash".split(), 730.0),
}


def half_life(tags: Iterable[str]) -> float:
    """Return the days in which a trace of these tags loses half of its worth: the shortest that any of them has."""
    return min((HALF_LIVES.get(tag.lower(), USUAL) for tag in tags), default=USUAL)


def days_since(at: str, today: date) -> float:
    """Return the days from a time as the store writes it; 0 where it lies ahead, or says nothing."""
    try:
        return float(max((today - date.fromisoformat(at[:10])).days, 0))
    except ValueError:
        return 0.0


def faded(at: str, today: date) -> float:
    """Return what is left of a vote."""
    return float(0.5 ** (days_since(at, today) / VOTE_HALF_LIFE))


def recency(tags: Iterable[str], at: str, today: date) -> float:
    """Return what age leaves of a trace, counted from when it was last told or found to work: 1 down to FLOOR."""
    return float(FLOOR + (1 - FLOOR) * 0.5 ** (days_since(at, today) / half_life(tags)))


def expired(trace: Trace, today: date) -> bool:
    """Tell whether a trace says of itself that it should not be relied on any more."""
    overdue = bool(trace.review_after) and trace.review_after[:10] < today.isoformat()
    return trace.status == EXPIRED or overdue


def validity(trace: Trace, today: date) -> float:
    """Return what is left of a trace whose review is overdue."""
    return _OUT_OF_DATE if expired(trace, today) else 1.0
