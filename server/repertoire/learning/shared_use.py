"""Decides what a team's members tell each other about components, and when, so that no one shows.

Of each component a team learns how many use it, how many it was offered to, and for what share it worked. Members
are told of in groups that do not overlap: those who use it, and those who were offered it and do not. A group of
fewer than FLOOR is not told of, the others in steps. Each statistic is released anew only when the reports of FLOOR
members changed in it. So no release can be subtracted from the one before, nor one number from another, to see what
fewer than FLOOR did. FLOOR - 1 members who tell each other what they reported can still learn of one more that it
uses a component, never how that went: outcomes are randomized (randomized_response.py). docs/design.md says why.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from repertoire.learning.randomized_response import estimated_share

FLOOR = 5  # members
STEP = 5  # counts are rounded down to multiples of this
MOST, MOST_PASSED = 20, 40  # components of one member's report: used, and offered but not used
WINDOW_DAYS = 28  # a report holds what was used and offered within this time
WEEK_DAYS = 7  # between two reports of a member, and between two releases
OLDEST_DAYS = 90  # a report that was not renewed for so long counts no more
WORKED, FAILED = "worked", "failed"
_DIGITS = 1  # of a share that is told

Components = frozenset[str]
NOTHING: Components = frozenset()


@dataclass(frozen=True)
class OwnUse:
    """What a member reports: components that it uses, others that it was offered, and outcomes as random answers."""

    used: tuple[str, ...] = ()
    passed_over: tuple[str, ...] = ()
    outcomes: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class TeamUse:
    """What is told of one component.

    `used`: about how many members use it, 0 for fewer than FLOOR. `offered`: about how many use it or were offered it,
    0 where fewer than FLOOR were offered it and do not use it. `worked`: the estimated share of the users for whom it
    worked, None where fewer than FLOOR answered.
    """

    used: int = 0
    offered: int = 0
    worked: float | None = None

    @property
    def taken(self) -> float:
        """Return the share of users among those who met it, as far as told."""
        return self.used / max(self.offered, self.used, 1)


@dataclass(frozen=True)
class MemberReport:
    """What a member reports now, and what of it the last release counted; None: unknown, since it was withdrawn."""

    now: Components
    released: Components | None = NOTHING

    @property
    def changed(self) -> bool:
        """Tell whether the last release counted something else of this member."""
        return self.now != self.released


def is_due(reports: Iterable[MemberReport]) -> bool:
    """Tell whether enough members' reports changed for another release."""
    return sum(report.changed for report in reports) >= FLOOR


def release(reports: Iterable[MemberReport]) -> dict[str, int]:
    """Return about how many members name each component, for those that FLOOR members or more name."""
    counts = Counter(component for report in reports for component in report.now)
    return {component: count // STEP * STEP for component, count in sorted(counts.items()) if count >= FLOOR}


def answered(outcomes: Mapping[str, str]) -> Components:
    """Return the answers of a report as words, so that outcomes are kept and compared as components are."""
    return frozenset(f"{outcome} {component}" for component, outcome in outcomes.items())


def release_outcomes(reports: Iterable[MemberReport]) -> dict[str, float]:
    """Return the estimated share of members for whom each component worked, where FLOOR members or more answered."""
    yes, answers = Counter[str](), Counter[str]()
    for report in reports:
        for outcome, component in (one.split(" ", 1) for one in report.now):
            answers[component] += 1
            yes[component] += outcome == WORKED
    return {
        component: round(estimated_share(yes[component], count), _DIGITS)
        for component, count in sorted(answers.items())
        if count >= FLOOR
    }


def merge_statistics(
    used: Mapping[str, int], passed_over: Mapping[str, int], worked: Mapping[str, float]
) -> dict[str, TeamUse]:
    """Return the three released statistics by component."""
    return {
        component: TeamUse(
            used.get(component, 0),
            used.get(component, 0) + passed_over[component] if component in passed_over else 0,
            worked.get(component),
        )
        for component in sorted({*used, *passed_over, *worked})
    }
