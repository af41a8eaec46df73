"""Stores the event log: requests, offers, selections, failures."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from repertoire.domain.event import AT_ONCE_KINDS, COUNTED, Event
from repertoire.store.connection import Connection
from repertoire.store.light.bindings import marks
from repertoire.store.rows import as_json, storable

_FIELDS = "at, kind, session, project, request, node, data, id"


class Events:
    """Reads and writes the event log."""

    def __init__(self, connection: Connection) -> None:
        self._db = connection

    def append(self, events: Sequence[Event]) -> None:
        """Append events to the log, in one transaction."""
        with self._db.transaction():
            self._db.executemany(
                "INSERT INTO event(at, kind, session, project, request, node, data) VALUES (?, ?, ?, ?, ?, ?, ?)",
                [
                    (e.at, e.kind, *map(storable, (e.session, e.project, e.request, e.node)), as_json(e.data))
                    for e in events
                ],
            )
            if any(e.kind in AT_ONCE_KINDS for e in events):  # a snapshot keeps the ranking that learning gave it
                self._db.touch(*self._db.layout.views_by_name)

    def moved_from_spool(self) -> frozenset[str]:
        """Return the names of the spool's files whose events are in the log, of those that may still lie there."""
        return frozenset(json.loads(self._db.meta("spooled") or "[]"))

    def note_moved(self, names: Sequence[str]) -> None:
        """Store the names of the spool files whose events are in the log and which are not deleted yet."""
        with self._db.transaction():
            self._db.set_meta("spooled", json.dumps(names))

    def noted_installs(self) -> frozenset[str]:
        """Return the names of the installations that were recorded, also of those whose events were deleted."""
        return frozenset(json.loads(self._db.meta("installs") or "[]"))

    def note_installs(self, names: Sequence[str]) -> None:
        """Store the names of the installations that are recorded now."""
        if frozenset(names) != self.noted_installs():
            with self._db.transaction():
                self._db.set_meta("installs", json.dumps(names))

    def recent(self, *, kinds: Sequence[str] = (), session: str = "", limit: int = 50) -> list[Event]:
        """Return the newest events first, limited to these kinds and this session if given."""
        where = ["1"]
        bindings: list[object] = []
        if kinds:
            where.append(f"kind IN ({marks(kinds)})")
            bindings.extend(kinds)
        if session:
            where.append("session = ?")
            bindings.append(session)
        return self._events(f"WHERE {' AND '.join(where)} ORDER BY id DESC LIMIT ?", (*bindings, limit))

    def since(self, number: int, *, limit: int = 1000) -> list[Event]:
        """Return the events after the one with this number, the oldest first."""
        return self._events("WHERE id > ? ORDER BY id LIMIT ?", (number, limit))

    def every(self, kinds: Sequence[str]) -> Iterator[Event]:
        """Yield all events of these kinds, the oldest first; streamed, because a long log takes much memory."""
        return _read(self._db.stream(f"SELECT {_FIELDS} FROM event WHERE kind IN ({marks(kinds)}) ORDER BY id", kinds))

    def latest(self, kinds: Sequence[str], *, limit: int) -> list[Event]:
        """Return at most `limit` of the newest events of these kinds, the oldest first."""
        return self.recent(kinds=kinds, limit=limit)[::-1]

    def of_node(self, node: str, *, kinds: Sequence[str], limit: int = 1000) -> list[Event]:
        """Return the events of these kinds about a node, the newest first."""
        return self._events(
            f"WHERE node = ? AND kind IN ({marks(kinds)}) ORDER BY id DESC LIMIT ?", (node, *kinds, limit)
        )

    def prompt_of(self, request: str) -> str:
        """Return the newest text of a request that the log holds; empty if it holds none."""
        return str(
            self._db.value(
                """SELECT json_extract(data, '$.prompt') FROM event
                   WHERE request = ? AND json_extract(data, '$.prompt') IS NOT NULL ORDER BY id DESC LIMIT 1""",
                (storable(request),),
            )
            or ""
        )

    def last(self, kind: str) -> dict[str, str]:
        """Map every node with events of a kind, including compacted events, to the time of the newest."""
        rows = self._db.rows(
            """SELECT node, max(at) FROM (
                 SELECT node, at FROM event WHERE kind = ?1 AND node <> ''
                 UNION ALL SELECT node, json_extract(told.value, '$[1].' || ?1 || '_at')
                   FROM event, json_each(data, '$.trials') told WHERE kind = ?2)
               WHERE at IS NOT NULL GROUP BY node""",
            (kind, COUNTED),
        )
        return {str(node): str(at) for node, at in rows}

    def count(self, *kinds: str) -> int:
        """Count the events of these kinds."""
        return int(self._db.value(f"SELECT count(*) FROM event WHERE kind IN ({marks(kinds)})", kinds))

    def size(self) -> int:
        """Count all events."""
        return int(self._db.value("SELECT count(*) FROM event"))

    def needs_compaction(self, *, every: int) -> bool:
        """Tell whether at least this many events were added since the last compaction."""
        compacted = int(self._db.meta("condensed") or 0)
        return self._newest() - compacted >= every or (compacted > 0 and not self.summary())

    def summary(self) -> str:
        """Return the summary of the log, as JSON, from its last compaction; empty if an event was forgotten since."""
        return str(self._db.meta("kept") or "")  # store/light/start.py reads it too

    def compact(self, gone: Sequence[int], counts: Sequence[Event], *, summary: str) -> None:
        """Replace old events by counts; only this and a person's wish to forget delete events.

        The summary of the log is stored in the same transaction.
        """
        with self._db.transaction():
            if gone:
                self._db.execute("INSERT INTO meta VALUES ('forgetting', 1)")  # lets the trigger on `event` delete rows
                self._db.executemany("DELETE FROM event WHERE id = ?", [(number,) for number in gone])
                self._db.execute("DELETE FROM meta WHERE key = 'forgetting'")
            self.append(counts)
            self._db.set_meta("condensed", self._newest())
            self._db.set_meta("kept", summary)

    def _newest(self) -> int:
        return int(self._db.value("SELECT max(id) FROM event") or 0)

    def _events(self, where: str, bindings: tuple[object, ...]) -> list[Event]:
        return list(_read(self._db.stream(f"SELECT {_FIELDS} FROM event {where}", bindings)))


def _read(rows: Iterable[tuple[Any, ...]]) -> Iterator[Event]:
    """Yield rows as events with interned strings: a long log repeats few strings, and each copy takes 60 bytes."""
    known: dict[str, str] = {}

    def shared(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        return {known.setdefault(name, name): _same(value, known) for name, value in pairs}

    decode = json.JSONDecoder(object_pairs_hook=shared).decode
    for at, *words, data, number in rows:
        kind, session, project, request, node = (known.setdefault(word, word) for word in words)
        yield Event(at, kind, session, project, request, node, decode(data), number)


def _same(value: Any, known: dict[str, str]) -> Any:
    return known.setdefault(value, value) if isinstance(value, str) else value
