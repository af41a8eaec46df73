"""Computes how often hints are followed, and the factor by which ignored kinds of hints need higher odds.

A *kind* is the moment (a prompt, a session's start) and the type of the component (skill, agent, …). Looks at hints and
followed hints are counted with decay and correction for position bias, as usage is. While one look in ten is followed,
or nothing is known, the odds stay as usual; the rarer hints are followed, the higher the odds must be. The factor is
`RARE` divided by the mean of a Beta distribution whose prior is `RARE` with the weight of `PATIENCE` looks: after
twelve ignored looks hints of a kind need twice the usual odds, `MOST` times at most. For a single component the factor
rises sooner, after four looks, up to `WEARY`.

One in `FLOOR` occasions needs only the usual odds, so that a kind or a component can recover.
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
FAILURE, BEFORE_COMMAND = "failure", "before_command"
MOMENTS = (PROMPT, SESSION_START, FAILURE, BEFORE_COMMAND)
RARE, FLOOR = 0.1, 5
PATIENCE, MOST = 12.0, 8.0  # of a kind: ignored looks until the threshold rises, and its largest factor on the odds
WEARY = 16.0  # of a component: largest factor on the odds; only a nearly certain hint still passes
_PATIENCE = 4.0  # of a component: ignored looks until the threshold doubles
_MORE = 1.0 + 1e-9  # least factor that counts as more than the usual odds


@dataclass(frozen=True)
class HintRate:
    """The statistics of one kind of hint: undecayed counts, and the rate of followed looks after decay."""

    moment: str
    type: str
    offered: int = 0
    followed: int = 0
    rate: Interval = ANY_SHARE
    demand: float = 1.0  # factor on the odds that the next hint of this kind needs


@dataclass(frozen=True)
class Looks:
    """Counts of given and followed hints, undecayed (offered, followed) and decayed (looks, taken)."""

    offered: int = 0
    followed: int = 0
    looks: float = 0.0
    taken: float = 0.0

    def plus(self, other: Looks, factor: float = 1.0) -> Looks:
        """Return the sum of both, with the other's decayed counts multiplied by a factor."""
        return Looks(
            self.offered + other.offered,
            self.followed + other.followed,
            self.looks + other.looks * factor,
            self.taken + other.taken * factor,
        )


Kind = tuple[str, str]  # moment of a hint and type of its component
Key = TypeVar("Key")


def hint_rates(found: Iterable[Trial], weight: Callable[[Trial], float]) -> tuple[HintRate, ...]:
    """Return the statistics of every kind of hint that was offered, from weighted trials."""
    return rates(hint_counts_by_kind(found, weight))


def hint_counts_by_kind(found: Iterable[Trial], weight: Callable[[Trial], float]) -> dict[Kind, Looks]:
    """Count the given and the followed hints of each kind (moment and component type), plainly and weighted."""
    return _looks_by(lambda trial: (trial.moment, trial.type), found, weight)


def rates(of_kind: Mapping[Kind, Looks]) -> tuple[HintRate, ...]:
    """Return the statistics of each kind of hint from its counts."""
    return tuple(_rate(kind, looks) for kind, looks in sorted(of_kind.items()))


def demands(rates: Iterable[HintRate], moment: str) -> Mapping[str, float]:
    """Return by component type the factor on the odds of hints at a moment, without factors of 1."""
    return {rate.type: rate.demand for rate in rates if rate.moment == moment and rate.demand > _MORE}


def hint_counts_by_component(found: Iterable[Trial], weight: Callable[[Trial], float]) -> dict[str, Looks]:
    """Count the given and the followed hints of each component, plainly and weighted."""
    return _looks_by(lambda trial: trial.node, found, weight)


def weariness(seen: Mapping[str, Looks]) -> Mapping[str, float]:
    """Return by component the factor on the odds of a hint that names it, without factors of 1."""
    return {node: times for node, looks in seen.items() if (times := _demand(looks, _PATIENCE, WEARY)) > _MORE}


def _demand(seen: Looks, patience: float, most: float) -> float:
    return min(max((patience + seen.looks) / (patience + seen.taken / RARE), 1.0), most)


def is_exploration(occasion: str) -> bool:
    """Tell whether a hint needs only the usual odds here, for exploration: on one occasion in `FLOOR`, by a hash."""
    digest = hashlib.sha256(occasion.encode("utf-8", "replace")).digest()
    return int.from_bytes(digest[:8], "big") % FLOOR == 0


def _looks_by(
    key: Callable[[Trial], Key], found: Iterable[Trial], weight: Callable[[Trial], float]
) -> dict[Key, Looks]:
    hinted: dict[Key, list[Trial]] = defaultdict(list)
    for trial in found:
        if trial.offered_at and trial.moment in MOMENTS:
            hinted[key(trial)].append(trial)
    return {name: _looks(own, weight) for name, own in hinted.items()}


def _looks(own: list[Trial], weight: Callable[[Trial], float]) -> Looks:
    followed = [trial for trial in own if trial.selected_at]
    looks = sum(weight(trial) * trial.look for trial in own)
    return Looks(len(own), len(followed), looks, sum(map(weight, followed)))


def _rate(kind: Kind, seen: Looks) -> HintRate:
    taken = min(seen.taken, seen.looks)  # a followed hint at rank 3 is one taken for a third of a look
    return HintRate(*kind, seen.offered, seen.followed, wilson(taken, seen.looks), _demand(seen, PATIENCE, MOST))
