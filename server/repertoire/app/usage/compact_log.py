"""Compacts the log when it has grown: replaces old events by counts from which learning computes the same usage."""

from __future__ import annotations

from repertoire.app.clock import now
from repertoire.domain.event import COUNTED, Event
from repertoire.learning.log_compaction import LogBounds, compact
from repertoire.learning.log_summary import last_summed, sum_up
from repertoire.learning.outcomes import trials
from repertoire.learning.usage import HALF_LIFE_DAYS, Decay
from repertoire.store.database import Store

EVERY = 1_000  # the log is checked for compaction each time it has grown by so many events
BOUNDS = LogBounds()


def compact_when_due(
    store: Store, *, half_life: float = HALF_LIFE_DAYS, bounds: LogBounds = BOUNDS, every: int = EVERY
) -> int:
    """Compact the log if it has grown by `every` events since the last check; return how many events were removed.

    It also stores a summary of the log for the session hook, which has no time to read the whole log.
    """
    if not store.events.needs_compaction(every=every):
        return 0
    with store.transaction():  # no process may append to a session that is being judged as ended
        if not store.events.needs_compaction(every=every):
            return 0
        events = store.events.since(0, limit=-1)
        found = compact(events, bounds)
        summary = _summed_up(events, max(last_summed(events), *found.gone, 0), half_life)
        counts = [Event(count.at, COUNTED, "", count.project, "", count.node, count.data) for count in found.counts]
        store.events.compact(found.gone, counts, summary=summary)
    store.backup.write(now=now())
    return len(found.gone)


def _summed_up(events: list[Event], last: int, half_life: float) -> str:
    settled = trials(event for event in events if event.id <= last or event.kind == COUNTED)
    return sum_up(settled, Decay(now(), half_life), through=last).as_text()
