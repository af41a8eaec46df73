"""Remembers what was needed and not to be had: in the log alone, so that graph and revision stay as they are."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from repertoire.app.clock import now
from repertoire.domain.answer import BUDGET, Recommendation, Task
from repertoire.domain.event import GAP, Event
from repertoire.settings import REDACTED, Settings
from repertoire.trust.redaction import redact

_NEED = 160  # characters that are kept of a task that nothing fits
_SHOWN = 8


@dataclass(frozen=True)
class Gap:
    """A need that nothing covered, how often it came up, and when last."""

    need: str
    times: int
    last: str


def gap_events(task: Task, found: Recommendation, settings: Settings) -> tuple[Event, ...]:
    """Return events for needs that a recommendation could not meet; none where it searched in part or asked back."""
    if found.degraded or found.facets:
        return ()
    needs = list(found.unprovided)
    if not found.items and not _narrowed(task) and settings.store_prompts == REDACTED:
        needs.append(redact(task.text)[:_NEED])
    return tuple(Event(now(), GAP, project=task.project, data={"need": need}) for need in dict.fromkeys(needs))


def _narrowed(task: Task) -> bool:
    """Tell whether a question left out some of what there is: that nothing fits it then is no uncovered need."""
    return bool(task.types or task.repository or task.budget < BUDGET) or task.installed is not None


def recurring(events: Iterable[Event]) -> tuple[Gap, ...]:
    """Return the needs that came up, those that came up most often first; `events` are the newest first."""
    counted: dict[str, Gap] = {}
    for event in events:
        need = str(event.data.get("need", ""))
        if need:
            known = counted.get(need, Gap(need, 0, event.at))
            counted[need] = Gap(need, known.times + 1, known.last)
    return tuple(sorted(counted.values(), key=lambda gap: -gap.times)[:_SHOWN])
