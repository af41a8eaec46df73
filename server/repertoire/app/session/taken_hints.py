"""Detects that a trace was read after a hint named it, so that the hint counts as taken."""

from __future__ import annotations

from repertoire.app.clock import ago
from repertoire.boot.spool import rows_of, waiting
from repertoire.domain.event import SHOWN, TAKEN, Event
from repertoire.learning.outcomes import LAPSE
from repertoire.store.database import Store


def read_after_hint(store: Store, trace: str, *, now: str) -> tuple[Event, ...]:
    """Return the event that the newest hint of a trace was taken; none without a hint, or if it was taken before."""
    late = [row for file in waiting(store.path.parent) for row in rows_of(file) if row.get("node") == trace]
    spooled = [row for row in late if row.get("kind") in (SHOWN, TAKEN)]
    if spooled:
        kind, at, session, project = (str(spooled[-1].get(name, "")) for name in ("kind", "at", "session", "project"))
    else:
        logged = store.events.of_node(trace, kinds=(SHOWN, TAKEN), limit=1)
        if not logged:
            return ()
        kind, at, session, project = logged[0].kind, logged[0].at, logged[0].session, logged[0].project
    if kind == TAKEN or at < ago(LAPSE):
        return ()
    return (Event(now, TAKEN, session, project, node=trace),)
