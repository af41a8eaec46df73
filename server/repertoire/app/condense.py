"""Keeps the log bounded: now and then, old events give way to counts that say the same to what learns from them."""

from __future__ import annotations

from repertoire.learning.counting import Room, condense
from repertoire.store.database import Store
from repertoire.store.events import COUNTED, Event

EVERY = 1_000  # events, between two looks at the whole log
ROOM = Room()


def condense_when_due(store: Store, *, room: Room = ROOM, every: int = EVERY) -> int:
    """Count what is old, if much was recorded since that was done last; return how many events went."""
    if not store.events.due(every=every):
        return 0
    with store.transaction():  # nobody appends to a session while it is judged to be over
        if not store.events.due(every=every):
            return 0
        found = condense(store.events.since(0, limit=-1), room)
        counts = [Event(count.at, COUNTED, "", count.project, "", count.node, count.data) for count in found.counts]
        store.events.condense(found.gone, counts)
    return len(found.gone)
