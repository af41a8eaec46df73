"""What may speak against components from outside: advisories on packages, and components that left their source."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from repertoire.domain.graph import COMPONENTS
from repertoire.store.connection import Connection
from repertoire.store.rows import as_json, storable


@dataclass(frozen=True)
class KeptAdvisory:
    """What one record says of one package, as it was read; `at` is when."""

    ecosystem: str
    package: str
    id: str
    data: Mapping[str, Any]
    at: str


@dataclass(frozen=True)
class Departure:
    """A component that others name as what they need, and that is in its source no more."""

    type: str
    name: str
    source: str
    at: str


class Soundness:
    """Advisories and departures. What changes here moves the revision: ranking weighs both."""

    def __init__(self, connection: Connection) -> None:
        self._db = connection

    def advisories(self) -> list[KeptAdvisory]:
        """Return every advisory that is kept."""
        rows = self._db.rows("SELECT ecosystem, package, id, data, at FROM advisory ORDER BY ecosystem, package, id")
        return [KeptAdvisory(row[0], row[1], row[2], json.loads(row[3]), row[4]) for row in rows]

    def keep_advisories(self, advisories: Iterable[KeptAdvisory], *, withdrawn: Iterable[str] = ()) -> int:
        """Keep advisories in place of what was kept under their ids, and drop the withdrawn; return how many differ."""
        kept = [
            (item.ecosystem, storable(item.package), storable(item.id), as_json(item.data), item.at)
            for item in advisories
        ]
        with self._db.transaction():
            before = {tuple(row) for row in self._advisories()}
            ids = {(row[2],) for row in kept} | {(storable(name),) for name in withdrawn}
            self._db.executemany("DELETE FROM advisory WHERE id = ?", list(ids))
            self._db.executemany("INSERT OR REPLACE INTO advisory VALUES (?, ?, ?, ?, ?)", kept)
            moved = len(before ^ {tuple(row) for row in self._advisories()})
            if moved:
                self._db.touch(COMPONENTS)
        return moved

    def forget_advisories(self) -> int:
        """Drop every advisory; return how many there were."""
        with self._db.transaction():
            self._db.execute("DELETE FROM advisory")
            gone = self._db.changes()
            if gone:
                self._db.touch(COMPONENTS)
        return gone

    def departed(self) -> list[Departure]:
        """Return what left its source and was needed when it did."""
        return [Departure(*row) for row in self._db.rows("SELECT type, name, source, at FROM departed ORDER BY name")]

    def note_departed(self, gone: Iterable[Departure]) -> None:
        """Note components that left their source."""
        rows = [(item.type, storable(item.name), storable(item.source), item.at) for item in gone]
        with self._db.transaction():
            self._db.executemany("INSERT OR REPLACE INTO departed VALUES (?, ?, ?, ?)", rows)
            if rows:
                self._db.touch(COMPONENTS)

    def note_returned(self, back: Iterable[Departure]) -> None:
        """Forget that components were gone: they are here again."""
        rows = [(item.type, item.name) for item in back]
        with self._db.transaction():
            self._db.executemany("DELETE FROM departed WHERE type = ? AND name = ?", rows)
            if rows:
                self._db.touch(COMPONENTS)

    def _advisories(self) -> list[tuple[Any, ...]]:
        return self._db.rows("SELECT ecosystem, package, id, data FROM advisory")
