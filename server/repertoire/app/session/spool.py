"""Moves spooled events into the log, each exactly once, even if a process is killed meanwhile."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from repertoire.boot.spool import HEARD, waiting
from repertoire.domain.event import Event, Moment
from repertoire.learning.selections import from_command, from_tool
from repertoire.learning.session import replay
from repertoire.store.database import Store

_REMEMBERED = 500  # a session's state is computed from so many of its newest events
_FIELDS = ("at", "kind", "session", "project", "request", "node")


def take_in(store: Store) -> int:
    """Move the spooled events into the log; return how many there were.

    Raises:
        StoreBusy: the database is still locked; the events stay in the spool.
    """
    files = waiting(store.path.parent)
    if not files or store.read_only:
        return 0
    events = [event for file in files for event in _read(file)]
    # Events are appended before their files are deleted: after a kill they are read again, and `append_new` skips them.
    store.events.append_new([event for event in events if event.kind != HEARD])
    for event in events:
        if event.kind == HEARD:
            store.events.append_new(_selected(store, event))
    for file in files:
        file.unlink(missing_ok=True)
    return len(events)


def _selected(store: Store, heard: Event) -> list[Event]:
    """Return the selection events of a deferred use, whose component is looked up now."""
    tool, name = str(heard.data.get("tool", "")), str(heard.data.get("name", ""))
    from repertoire.app.session.record import selected  # noqa: PLC0415 - rarely needed

    mention = from_tool(tool, {"skill": name, "subagent_type": name}) if tool else from_command(name)
    before = store.events.recent(session=heard.session, limit=_REMEMBERED) if heard.session else []
    return selected(store, mention, Moment(heard.at, heard.session, heard.project), replay(before[::-1]))


def _read(file: Path) -> list[Event]:
    try:
        rows = json.loads(file.read_text(encoding="utf-8"))
    except (FileNotFoundError, ValueError):  # another process moved it, or it is no spool file
        return []
    return [_event(row) for row in rows if isinstance(row, dict)] if isinstance(rows, list) else []


def _event(row: Mapping[str, Any]) -> Event:
    at, kind, session, project, request, node = (str(row.get(name, "")) for name in _FIELDS)
    data = row.get("data")
    return Event(at, kind, session, project, request, node, data if isinstance(data, dict) else {})
