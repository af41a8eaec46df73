"""Logs needs that no component covers, as events only, so that the graph and its revision do not change."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from repertoire.app.clock import now
from repertoire.domain.answer import BUDGET, Recommendation, Task
from repertoire.domain.event import GAP, Event
from repertoire.settings import REDACTED, Settings
from repertoire.trust.redaction import redact

NEED = 160  # the log keeps at most so many characters of a task without a fitting component
_SHOWN = 8  # needs that `recurring` returns


@dataclass(frozen=True)
class Gap:
    """A need that no component covers, how often it came up, and when last."""

    need: str
    times: int
    last: str


def gap_events(task: Task, found: Recommendation, settings: Settings) -> tuple[Event, ...]:
    """Return events for the needs that a recommendation did not meet; none if it was degraded or asked back."""
    if found.degraded or found.facets:
        return ()
    needs = list(found.unprovided)
    if not found.items and not _narrowed(task) and settings.store_prompts == REDACTED:
        needs.append(redact(task.text)[:NEED])
    return tuple(Event(now(), GAP, project=task.project, data={"need": need}) for need in dict.fromkeys(needs))


def _narrowed(task: Task) -> bool:
    """Return whether a task's limits exclude some components, so that an empty answer proves no gap."""
    return bool(task.types or task.repository or task.budget < BUDGET) or task.installed is not None


def recurring(events: Iterable[Event]) -> tuple[Gap, ...]:
    """Return the most frequent needs of gap events, which come newest first."""
    counted: dict[str, Gap] = {}
    for event in events:
        need = str(event.data.get("need", ""))
        if need:
            known = counted.get(need, Gap(need, 0, event.at))
            counted[need] = Gap(need, known.times + 1, known.last)
    return tuple(sorted(counted.values(), key=lambda gap: -gap.times)[:_SHOWN])
