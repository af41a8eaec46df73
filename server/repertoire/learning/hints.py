"""Tells per kind of hint how often it is followed, and how much surer than usual the next one of that kind must be.

A *kind* is the moment (a prompt, a session's start) and the type of what is named (skill, agent, …). Its *rate* is the
share of looks at such hints that were followed, decayed and corrected for position as memory is. Where that is surely
below `RARE` (Wilson's upper bound), the odds that the next one fits must be higher by as much, up to `MOST` times; else
nothing changes. One in `FLOOR` occasions is let through at the usual odds, so that a kind can recover.
"""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

from repertoire.learning.intervals import ANY_SHARE, Interval, wilson
from repertoire.learning.outcomes import Trial

PROMPT, SESSION_START = "prompt", "session_start"
MOMENTS = (PROMPT, SESSION_START)
RARE, MOST, FLOOR = 0.1, 4.0, 5


@dataclass(frozen=True)
class HintRate:
    """How hints of one kind fared: counts are whole, the rate is of decayed looks."""

    moment: str
    type: str
    offered: int = 0
    followed: int = 0
    rate: Interval = ANY_SHARE

    @property
    def demand(self) -> float:
        """How many times the usual odds of fitting the next one needs; 1 where it is not surely rarely followed."""
        return min(max(RARE / self.rate.high, 1.0), MOST) if self.rate.high > 0.0 else MOST


def hint_rates(found: Iterable[Trial], weight: Callable[[Trial], float]) -> tuple[HintRate, ...]:
    """Return the rate of every kind that was offered, each trial counting for its weight."""
    of_kind: dict[tuple[str, str], list[Trial]] = defaultdict(list)
    for trial in found:
        if trial.offered_at and trial.moment in MOMENTS:
            of_kind[trial.moment, trial.type].append(trial)
    return tuple(_rate(kind, own, weight) for kind, own in sorted(of_kind.items()))


def demands(rates: Iterable[HintRate], moment: str) -> Mapping[str, float]:
    """Return by type how many times the usual odds a hint needs at a moment; types that need no more are left out."""
    return {rate.type: rate.demand for rate in rates if rate.moment == moment and rate.demand > 1.0}


def let_through(occasion: str) -> bool:
    """Tell whether an occasion is the one in so many that is held to the usual odds; the same in every process."""
    digest = hashlib.sha256(occasion.encode("utf-8", "replace")).digest()
    return int.from_bytes(digest[:8], "big") % FLOOR == 0


def _rate(kind: tuple[str, str], own: list[Trial], weight: Callable[[Trial], float]) -> HintRate:
    followed = [trial for trial in own if trial.selected_at]
    looks = sum(weight(trial) * trial.look for trial in own)
    taken = min(sum(map(weight, followed)), looks)  # what is followed at rank 3 is more than a third of a look
    return HintRate(*kind, len(own), len(followed), wilson(taken, looks))
