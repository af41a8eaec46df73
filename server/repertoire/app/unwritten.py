"""Takes into the log what could not be written when it happened: each of it once, whoever is killed and when."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from repertoire.boot.unwritten import waiting
from repertoire.store.database import Store
from repertoire.store.events import Event

_FIELDS = ("at", "kind", "session", "project", "request", "node")


def take_in(store: Store) -> int:
    """Write what waits beside the database; return how many events that were.

    Raises:
        StoreBusy: the database is locked still; all of it waits on.
    """
    files = waiting(store.path.parent)
    if not files or store.read_only:
        return 0
    events = [event for file in files for event in _read(file)]
    store.events.append_new(events)  # whoever is killed before the files are gone leaves them to be read again
    for file in files:
        file.unlink(missing_ok=True)
    return len(events)


def _read(file: Path) -> list[Event]:
    try:
        rows = json.loads(file.read_text(encoding="utf-8"))
    except (FileNotFoundError, ValueError):  # taken by another process, or no file of ours
        return []
    return [_event(row) for row in rows if isinstance(row, dict)] if isinstance(rows, list) else []


def _event(row: Mapping[str, Any]) -> Event:
    at, kind, session, project, request, node = (str(row.get(name, "")) for name in _FIELDS)
    data = row.get("data")
    return Event(at, kind, session, project, request, node, data if isinstance(data, dict) else {})
