"""Logs which sources could not be read or have moved; their components stay in the graph."""

from __future__ import annotations

from dataclasses import dataclass

from repertoire.app.clock import now
from repertoire.domain.event import MOVED, REREAD, UNREAD, Event
from repertoire.domain.text import clean_line
from repertoire.store.database import Store

_REASON = 300  # characters of a reason or address that are logged
_LOOKED_AT = 2000  # newest notes that are read


@dataclass(frozen=True)
class LostSource:
    """A source that could not be read, since when and why, with the number of components from its last good read.

    Or a source that was read through a redirect: `moved` is its new address.
    """

    source: str
    since: str
    reason: str
    components: int
    moved: str = ""


def note_unread(store: Store, source: str, reason: str) -> None:
    """Log that a source could not be read; only once for the same reason."""
    reason = clean_line(reason, _REASON)
    last = _last(store).get(source)
    if last is None or last.kind == REREAD or last.data.get("reason") != reason:
        store.events.append([Event(now(), UNREAD, data={"source": source, "reason": reason})])


def note_read(store: Store, source: str) -> None:
    """Log that a lost source was read again."""
    last = _last(store).get(source)
    if last is not None and last.kind != REREAD:
        store.events.append([Event(now(), REREAD, data={"source": source})])


def note_moved(store: Store, source: str, place: str) -> None:
    """Log that a source moved to a new address, unless its newest note says so already."""
    place = clean_line(place, _REASON)
    last = _last(store).get(source)
    if last is None or last.kind != MOVED or last.data.get("place") != place:
        store.events.append([Event(now(), MOVED, data={"source": source, "place": place})])


def lost_sources(store: Store) -> tuple[LostSource, ...]:
    """Return the known sources whose last read failed, or was redirected to a new address."""
    last = _last(store)
    found = []
    for row in store.sources.all():
        event = last.get(row.info.key)
        if event is not None and event.kind != REREAD:
            told = (str(event.data.get(name, "")) for name in ("reason", "place"))
            found.append(LostSource(row.info.key, event.at, next(told), row.components, next(told)))
    return tuple(found)


def newest_note(store: Store) -> int:
    """Return the event id of the newest note on any source, as a key for caches; 0 without a note."""
    newest = store.events.recent(kinds=(UNREAD, REREAD, MOVED), limit=1)
    return newest[0].id if newest else 0


def _last(store: Store) -> dict[str, Event]:
    """Map each source to the newest note on it."""
    found: dict[str, Event] = {}
    for event in store.events.recent(kinds=(UNREAD, REREAD, MOVED), limit=_LOOKED_AT):
        found.setdefault(str(event.data.get("source", "")), event)
    return found
