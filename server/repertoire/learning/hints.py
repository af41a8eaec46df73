"""Tells per kind of hint how often it is followed, and how much surer than usual the next one of that kind must be.

A *kind* is the moment (a prompt, a session's start) and the type of what is named (skill, agent, …). Looks at its hints
are counted, decayed and corrected for position as memory is, and those that were followed. As long as one in ten is, or
nothing is known, nothing changes; the rarer they are followed, the higher the odds must be that the next one fits. The
factor is what `RARE` is over the mean of a Beta distribution that begins at `RARE` with the weight of `PATIENCE` looks:
hints of a kind need twice the usual odds after twelve looks to no effect, and `MOST` times at most. A single component
is tired of sooner, after four looks, and up to `WEARY` times.

One in `FLOOR` occasions is let through at the usual odds, so that a kind and a component can recover.
"""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import TypeVar

from repertoire.domain.confidence_intervals import ANY_SHARE, Interval, wilson
from repertoire.learning.outcomes import Trial

PROMPT, SESSION_START = "prompt", "session_start"
MOMENTS = (PROMPT, SESSION_START)
RARE, FLOOR = 0.1, 5
PATIENCE, MOST = 12.0, 8.0  # of a kind: ignored looks until the threshold rises, and its largest factor on the odds
WEARY = 16.0  # of a component: largest factor on the odds; only a nearly certain hint still passes
_PATIENCE = 4.0
_MORE = 1.0 + 1e-9


@dataclass(frozen=True)
class HintRate:
    """How hints of one kind fared: counts are whole, the rate is of decayed looks."""

    moment: str
    type: str
    offered: int = 0
    followed: int = 0
    rate: Interval = ANY_SHARE
    demand: float = 1.0  # how many times the usual odds of fitting the next one needs


@dataclass(frozen=True)
class Looks:
    """How often hints of one kind were given and followed: whole, and decayed as looks and as those that led to use."""

    offered: int = 0
    followed: int = 0
    looks: float = 0.0
    taken: float = 0.0

    def plus(self, other: Looks, factor: float = 1.0) -> Looks:
        """Return both together, the other's decayed counts faded by a factor."""
        return Looks(
            self.offered + other.offered,
            self.followed + other.followed,
            self.looks + other.looks * factor,
            self.taken + other.taken * factor,
        )


Kind = tuple[str, str]  # moment and type
Key = TypeVar("Key")


def hint_rates(found: Iterable[Trial], weight: Callable[[Trial], float]) -> tuple[HintRate, ...]:
    """Return the rate of every kind that was offered, each trial counting for its weight."""
    return rates(looks_of(found, weight))


def looks_of(found: Iterable[Trial], weight: Callable[[Trial], float]) -> dict[Kind, Looks]:
    """Count the looks at hints of every kind that was offered."""
    return _looks_by(lambda trial: (trial.moment, trial.type), found, weight)


def rates(of_kind: Mapping[Kind, Looks]) -> tuple[HintRate, ...]:
    """Return the rates that looks come to."""
    return tuple(_rate(kind, looks) for kind, looks in sorted(of_kind.items()))


def demands(rates: Iterable[HintRate], moment: str) -> Mapping[str, float]:
    """Return by type how many times the usual odds a hint needs at a moment; types that need no more are left out."""
    return {rate.type: rate.demand for rate in rates if rate.moment == moment and rate.demand > _MORE}


def seen_of(found: Iterable[Trial], weight: Callable[[Trial], float]) -> dict[str, Looks]:
    """Count the looks at hints of every component that was offered unasked."""
    return _looks_by(lambda trial: trial.node, found, weight)


def weariness(seen: Mapping[str, Looks]) -> Mapping[str, float]:
    """Return by component how many times the usual odds a hint of it needs; those that need no more are left out."""
    return {node: times for node, looks in seen.items() if (times := _demand(looks, _PATIENCE, WEARY)) > _MORE}


def _demand(seen: Looks, patience: float, most: float) -> float:
    return min(max((patience + seen.looks) / (patience + seen.taken / RARE), 1.0), most)


def let_through(occasion: str) -> bool:
    """Tell whether an occasion is the one in so many that is held to the usual odds; the same in every process."""
    digest = hashlib.sha256(occasion.encode("utf-8", "replace")).digest()
    return int.from_bytes(digest[:8], "big") % FLOOR == 0


def _looks_by(
    key: Callable[[Trial], Key], found: Iterable[Trial], weight: Callable[[Trial], float]
) -> dict[Key, Looks]:
    hinted: dict[Key, list[Trial]] = defaultdict(list)
    for trial in found:
        if trial.offered_at and trial.moment in MOMENTS:
            hinted[key(trial)].append(trial)
    return {one: _looks(own, weight) for one, own in hinted.items()}


def _looks(own: list[Trial], weight: Callable[[Trial], float]) -> Looks:
    followed = [trial for trial in own if trial.selected_at]
    looks = sum(weight(trial) * trial.look for trial in own)
    return Looks(len(own), len(followed), looks, sum(map(weight, followed)))


def _rate(kind: Kind, seen: Looks) -> HintRate:
    taken = min(seen.taken, seen.looks)  # what is followed at rank 3 is more than a third of a look
    return HintRate(*kind, seen.offered, seen.followed, wilson(taken, seen.looks), _demand(seen, PATIENCE, MOST))
