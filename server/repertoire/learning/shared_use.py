"""Decides what a team's members tell each other about the components that they use, and when, so that no one shows.

A release counts the members who use a component. It holds no component with fewer than FLOOR users, counts in steps,
and is followed by another one only when the reports of FLOOR members changed since. So no release can be subtracted
from the one before to see what fewer than FLOOR members did. FLOOR - 1 members who tell each other what they reported
can still learn of one more; docs/design.md says why that is left.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

FLOOR = 5  # members
STEP = 5  # counts are rounded down to multiples of this
MOST = 20  # components of one member's report
WINDOW_DAYS = 28  # a report holds what was used within this time
WEEK_DAYS = 7  # between two reports of a member, and between two releases
OLDEST_DAYS = 90  # a report that was not renewed for so long counts no more

Components = frozenset[str]
NOTHING: Components = frozenset()


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
    """Return about how many members use each component, for those that FLOOR members or more use."""
    counts = Counter(component for report in reports for component in report.now)
    return {component: count // STEP * STEP for component, count in sorted(counts.items()) if count >= FLOOR}
