"""Appends events to the spool and moves them into the log, each exactly once, even if a process is killed meanwhile."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Mapping, Sequence
from typing import Any
from weakref import WeakKeyDictionary

from repertoire.boot.spool import HEARD, put_off, rows_of, waiting
from repertoire.domain.errors import StoreBusy, StoreFull
from repertoire.domain.event import OFFERED, SELECTED, SHOWN, Event, Moment
from repertoire.learning.selections import from_command, from_tool
from repertoire.learning.session import replay
from repertoire.store.database import Store

_REMEMBERED = 500  # a session's state is computed from so many of its newest events
_TOLD = frozenset((OFFERED, SELECTED, SHOWN))  # without a person's words, which `forget` could not reach here
_UNRECORDED: WeakKeyDictionary[Store, deque[Event]] = WeakKeyDictionary()  # else a session hears the same hint again
_FIELDS = ("at", "kind", "session", "project", "request", "node")


def record_events(store: Store, events: Sequence[Event]) -> None:
    """Record events in the spool; what they showed or used is known to this process even if they cannot be kept.

    Raises: OSError when they cannot be kept in a home that can be written.
    """
    try:
        if events and not store.read_only:
            put_off(
                store.path.parent, [{name: getattr(event, name) for name in (*_FIELDS, "data")} for event in events]
            )
    except OSError:
        _keep_here(store, events)
        raise
    if store.read_only:
        _keep_here(store, events)


def record_answer(store: Store, events: Sequence[Event]) -> str:
    """Append the events of an answer to the log, or to the spool while it is locked; return why neither could be done.

    Raises: OSError when the spool cannot be written.
    """
    if store.read_only:  # which every answer says by itself
        return ""
    try:
        store.events.append(events)
    except StoreBusy:
        record_events(store, events)
    except StoreFull as error:
        return f"the answer is not recorded: {error}"
    return ""


def _keep_here(store: Store, events: Sequence[Event]) -> None:
    held = _UNRECORDED.setdefault(store, deque(maxlen=_REMEMBERED))
    held.extend(event for event in events if event.kind in _TOLD)


def take_in(
    store: Store,
    then: Callable[[], object] | None = None,
    *,
    learn: Callable[[Sequence[Event], Sequence[Event]], object] | None = None,
) -> int:
    """Move the spooled events into the log, and do `then` in the same transaction; return how many events there were.

    `learn` is given the moved events, for which nobody may be left who learns from them, and the uses that were looked
    up here, from which nobody else learns.

    Raises:
        StoreBusy: the database is still locked; the events stay in the spool.
    """
    home = store.path.parent
    if store.read_only or not (then or waiting(home)):
        return 0
    with store.transaction():
        files = waiting(home)  # under the lock: a file that was moved is listed again or gone, and known until then
        moved = store.events.moved_from_spool()
        events = [_event(row) for file in files if file.name not in moved for row in rows_of(file)]
        store.events.append([event for event in events if event.kind != HEARD])
        heard: list[Event] = []
        for event in events:
            if event.kind == HEARD:
                heard += (found := _selected(store, event))
                store.events.append(found)
        if files:
            store.events.note_moved([file.name for file in files])
        if then is not None:
            then()
        if learn is not None:
            learn(events, heard)
    for file in files:
        file.unlink(missing_ok=True)
    return len(events)


def of_session(store: Store, session: str) -> list[Event]:
    """Return the newest events of a session, the oldest first, those that wait in the spool included.

    Hints and uses that could not be kept come first: they tell what the session has seen, and not where it stands.
    """
    # The spool, then what was moved, then the log: in any other order, an event that is moved meanwhile is in none.
    files = {file.name: rows_of(file) for file in waiting(store.path.parent)}
    moved = store.events.moved_from_spool() if files else frozenset()
    logged = store.events.recent(session=session, limit=_REMEMBERED)[::-1]
    spooled = [_event(row) for name, rows in files.items() if name not in moved for row in rows]
    late = [event for event in spooled if event.session == session and event.kind != HEARD]
    return [*(event for event in _UNRECORDED.get(store, ()) if event.session == session), *logged, *late]


def _selected(store: Store, heard: Event) -> list[Event]:
    """Return the selection events of a deferred use, whose component is looked up now."""
    tool, name = str(heard.data.get("tool", "")), str(heard.data.get("name", ""))
    from repertoire.app.session.hook_events import selected  # noqa: PLC0415 - rarely needed

    mention = from_tool(tool, {"skill": name, "subagent_type": name}, name) if tool else from_command(name)
    before = store.events.recent(session=heard.session, limit=_REMEMBERED) if heard.session else []
    return selected(store, mention, Moment(heard.at, heard.session, heard.project), replay(before[::-1]))


def _event(row: Mapping[str, Any]) -> Event:
    at, kind, session, project, request, node = (str(row.get(name, "")) for name in _FIELDS)
    data = row.get("data")
    return Event(at, kind, session, project, request, node, data if isinstance(data, dict) else {})
