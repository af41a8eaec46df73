"""Keeps the log bounded: now and then, old events give way to counts that say the same to what learns from them."""

from __future__ import annotations

from repertoire.app.clock import now
from repertoire.domain.event import COUNTED, Event
from repertoire.learning.log_compaction import LogBounds, compact
from repertoire.learning.log_summary import sum_up, through
from repertoire.learning.outcomes import trials
from repertoire.learning.usage import HALF_LIFE_DAYS, Decay
from repertoire.store.database import Store

EVERY = 1_000  # events, between two looks at the whole log
ROOM = LogBounds()


def condense_when_due(
    store: Store, *, half_life: float = HALF_LIFE_DAYS, room: LogBounds = ROOM, every: int = EVERY
) -> int:
    """Compact the log if it has grown enough since the last time; return how many events were removed.

    What the log comes to is kept for the session's start, which cannot fold all of it in its time.
    """
    if not store.events.due(every=every):
        return 0
    with store.transaction():  # nobody appends to a session while it is judged to be over
        if not store.events.due(every=every):
            return 0
        events = store.events.since(0, limit=-1)
        found = compact(events, room)
        kept = _summed_up(events, max(through(events), *found.gone, 0), half_life)
        counts = [Event(count.at, COUNTED, "", count.project, "", count.node, count.data) for count in found.counts]
        store.events.compact(found.gone, counts, kept=kept)
    store.backup.write(now=now())
    return len(found.gone)


def _summed_up(events: list[Event], last: int, half_life: float) -> str:
    settled = trials(event for event in events if event.id <= last or event.kind == COUNTED)
    return sum_up(settled, Decay(now(), half_life), through=last).as_text()
