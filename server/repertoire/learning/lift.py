"""Tells what a component did to the requests it was used for, beside those for which it was only offered.

*With*: it was selected, and what came of that is known. *Without*: it was offered for a request, something else or
nothing was selected, and what came of the request is known. *Lift*: the share that went well with it less the share
that went well without it, counts decayed as memory is, between Newcombe's bounds. *Harmful*: tried often enough both
ways, and the whole interval lies below 0. It recovers by doing better, or by being forgotten.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from repertoire.domain.confidence_intervals import ANY_DIFFERENCE, RateDifference, newcombe
from repertoire.learning.outcomes import BAD, OK, UNKNOWN, Trial

MIN_REQUESTS = 5.0  # "harmful" needs so many decayed requests of known outcome, with and without the component


@dataclass(frozen=True)
class LiftArm:
    """Requests with, or without, a component: how many went well and how many failed, whole and decayed."""

    ok: int = 0
    failed: int = 0
    good: float = 0.0
    bad: float = 0.0

    @property
    def known(self) -> int:
        """How many there were whose outcome is known."""
        return self.ok + self.failed

    def plus(self, other: LiftArm, factor: float = 1.0) -> LiftArm:
        """Return both together, the other's decayed counts faded by a factor."""
        return LiftArm(
            self.ok + other.ok,
            self.failed + other.failed,
            self.good + other.good * factor,
            self.bad + other.bad * factor,
        )


NONE = LiftArm()


@dataclass(frozen=True)
class Lift:
    """What a component did to its requests."""

    used: LiftArm = NONE
    unused: LiftArm = NONE
    difference: RateDifference = ANY_DIFFERENCE
    harmful: bool = False

    @property
    def known(self) -> bool:
        """Whether there is anything to compare."""
        return bool(self.used.known and self.unused.known)

    @property
    def demoted(self) -> str:
        """Say that it is demoted and on what evidence; empty where it is not."""
        if not self.harmful:
            return ""
        used, unused = self.used, self.unused
        return (
            f"demoted: failed more often than without it, {used.failed} of {used.known} times "
            f"against {unused.failed} of {unused.known}"
        )


NO_LIFT = Lift()


def lift_of(found: Iterable[Trial], weight: Callable[[Trial], float]) -> Lift:
    """Compare one component's trials, each counting for its weight."""
    return compare(*sides_of(found, weight))


def sides_of(found: Iterable[Trial], weight: Callable[[Trial], float]) -> tuple[LiftArm, LiftArm]:
    """Count one component's requests: those with it, and those without."""
    found = list(found)
    used = _side(((trial, trial.outcome) for trial in found if trial.selected_at), weight)
    return used, _side(((trial, trial.apart) for trial in found if not trial.selected_at), weight)


def compare(used: LiftArm, unused: LiftArm) -> Lift:
    """Compare requests with a component to those without it."""
    trials = used.good + used.bad, unused.good + unused.bad
    difference = newcombe((used.good, trials[0]), (unused.good, trials[1]))
    return Lift(used, unused, difference, difference.high < 0.0 and min(trials) >= MIN_REQUESTS)


def _side(found: Iterable[tuple[Trial, str]], weight: Callable[[Trial], float]) -> LiftArm:
    told = [(trial, outcome) for trial, outcome in found if outcome != UNKNOWN]
    good = [trial for trial, outcome in told if outcome == OK]
    bad = [trial for trial, outcome in told if outcome == BAD]
    return LiftArm(len(good), len(bad), sum(map(weight, good)), sum(map(weight, bad)))
