"""Remembers which sources could not be read, or have moved, in the log alone; what was known of them stays."""

from __future__ import annotations

from dataclasses import dataclass

from repertoire.app.clock import now
from repertoire.domain.event import MOVED, REREAD, UNREAD, Event
from repertoire.domain.text import clean_line
from repertoire.store.database import Store

_REASON = 300
_LOOKED_AT = 2000


@dataclass(frozen=True)
class Lost:
    """A source that could not be read since then, why, and how many components its last good state still holds.

    Or one that is read from elsewhere, where it was sent on: `moved` tells where.
    """

    source: str
    since: str
    reason: str
    components: int
    moved: str = ""


def note_unread(store: Store, source: str, reason: str) -> None:
    """Note that a source could not be read; once, however often that is tried for the same reason."""
    reason = clean_line(reason, _REASON)
    last = _last(store).get(source)
    if last is None or last.kind == REREAD or last.data.get("reason") != reason:
        store.events.append([Event(now(), UNREAD, data={"source": source, "reason": reason})])


def note_read(store: Store, source: str) -> None:
    """Note that a source is to be read again, where it was not."""
    last = _last(store).get(source)
    if last is not None and last.kind != REREAD:
        store.events.append([Event(now(), REREAD, data={"source": source})])


def note_moved(store: Store, source: str, place: str) -> None:
    """Note that a source was read, and from where it is now; once for each place."""
    place = clean_line(place, _REASON)
    last = _last(store).get(source)
    if last is None or last.kind != MOVED or last.data.get("place") != place:
        store.events.append([Event(now(), MOVED, data={"source": source, "place": place})])


def lost_sources(store: Store) -> tuple[Lost, ...]:
    """Return the known sources that could not be read when it was last tried, or had moved."""
    last = _last(store)
    found = []
    for row in store.sources.all():
        event = last.get(row.info.key)
        if event is not None and event.kind != REREAD:
            told = (str(event.data.get(name, "")) for name in ("reason", "place"))
            found.append(Lost(row.info.key, event.at, next(told), row.components, next(told)))
    return tuple(found)


def newest_note(store: Store) -> int:
    """Return the number of the newest note: what was made of them holds until it moves."""
    newest = store.events.recent(kinds=(UNREAD, REREAD, MOVED), limit=1)
    return newest[0].id if newest else 0


def _last(store: Store) -> dict[str, Event]:
    """Return the newest of these events of each source."""
    found: dict[str, Event] = {}
    for event in store.events.recent(kinds=(UNREAD, REREAD, MOVED), limit=_LOOKED_AT):
        found.setdefault(str(event.data.get("source", "")), event)
    return found
