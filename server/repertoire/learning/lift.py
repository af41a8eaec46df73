"""Computes the lift of a component: how many more requests went well with it than without it.

*With*: the component was selected, and the outcome is known. *Without*: it was offered for a request but not selected,
and the request's outcome is known. *Lift*: the share that went well with it minus the share without it, from decayed
counts, with Newcombe's interval. *Harmful*: enough requests of both sorts, and the whole interval below 0. A harmful
component recovers by better outcomes, or as the bad ones decay.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from repertoire.domain.confidence_intervals import ANY_DIFFERENCE, RateDifference, newcombe
from repertoire.domain.event import BAD, OK
from repertoire.learning.outcomes import Trial

MIN_REQUESTS = 5.0  # decayed requests of known outcome, with and without a component, before it can be harmful


@dataclass(frozen=True)
class LiftArm:
    """Requests with or without a component, by outcome: undecayed (ok, failed) and decayed (good, bad) counts."""

    ok: int = 0
    failed: int = 0
    good: float = 0.0
    bad: float = 0.0

    @property
    def known(self) -> int:
        """The undecayed number of requests of known outcome."""
        return self.ok + self.failed

    def plus(self, other: LiftArm, factor: float = 1.0) -> LiftArm:
        """Return the sum of both, with the other's decayed counts multiplied by a factor."""
        return LiftArm(
            self.ok + other.ok,
            self.failed + other.failed,
            self.good + other.good * factor,
            self.bad + other.bad * factor,
        )


NONE = LiftArm()


@dataclass(frozen=True)
class Lift:
    """The lift of one component: requests with and without it, and their difference with its interval."""

    used: LiftArm = NONE
    unused: LiftArm = NONE
    difference: RateDifference = ANY_DIFFERENCE
    harmful: bool = False

    @property
    def known(self) -> bool:
        """Whether there are requests of known outcome both with and without the component."""
        return bool(self.used.known and self.unused.known)

    @property
    def demoted(self) -> str:
        """A sentence on why the component is ranked lower; empty if it is not harmful."""
        if not self.harmful:
            return ""
        used, unused = self.used, self.unused
        return (
            f"demoted: failed more often than without it, {used.failed} of {used.known} times "
            f"against {unused.failed} of {unused.known}"
        )


NO_LIFT = Lift()


def lift_of(found: Iterable[Trial], weight: Callable[[Trial], float]) -> Lift:
    """Return the lift of one component from its weighted trials."""
    return compare(*count_arms(found, weight))


def count_arms(found: Iterable[Trial], weight: Callable[[Trial], float]) -> tuple[LiftArm, LiftArm]:
    """Count the requests with and without one component from its weighted trials."""
    found = list(found)
    used = _side(((trial, trial.outcome) for trial in found if trial.selected_at), weight)
    return used, _side(((trial, trial.apart) for trial in found), weight)


def compare(used: LiftArm, unused: LiftArm) -> Lift:
    """Return the lift from the counts of requests with and without a component."""
    trials = used.good + used.bad, unused.good + unused.bad
    difference = newcombe((used.good, trials[0]), (unused.good, trials[1]))
    return Lift(used, unused, difference, difference.high < 0.0 and min(trials) >= MIN_REQUESTS)


def _side(found: Iterable[tuple[Trial, str]], weight: Callable[[Trial], float]) -> LiftArm:
    judged = list(found)
    good = [trial for trial, outcome in judged if outcome == OK]
    bad = [trial for trial, outcome in judged if outcome == BAD]
    return LiftArm(len(good), len(bad), sum(map(weight, good)), sum(map(weight, bad)))
