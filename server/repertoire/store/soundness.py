"""Stores external facts that count against components: advisories on packages, and components that left a source."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from repertoire.domain.graph import COMPONENTS
from repertoire.domain.soundness import RETIRED_HEAD, is_retired
from repertoire.store.connection import Connection
from repertoire.store.rows import as_json, storable


@dataclass(frozen=True)
class KeptAdvisory:
    """The statement of one OSV record about one package; `at` is the time when it was read."""

    ecosystem: str
    package: str
    id: str
    data: Mapping[str, Any]
    at: str


@dataclass(frozen=True)
class Departure:
    """A component that others require and that its source no longer contains."""

    type: str
    name: str
    source: str
    at: str


class Soundness:
    """Reads and writes advisories and departures; a change raises the revision, because ranking uses both."""

    def __init__(self, connection: Connection) -> None:
        self._db = connection

    def advisories(self) -> list[KeptAdvisory]:
        """Return every stored advisory."""
        rows = self._db.rows("SELECT ecosystem, package, id, data, at FROM advisory ORDER BY ecosystem, package, id")
        return [KeptAdvisory(row[0], row[1], row[2], json.loads(row[3]), row[4]) for row in rows]

    def keep_advisories(self, advisories: Iterable[KeptAdvisory], *, withdrawn: Iterable[str] = ()) -> None:
        """Replace the stored advisories with these ids, and delete the withdrawn ones."""
        kept = [
            (item.ecosystem, storable(item.package), storable(item.id), as_json(item.data), item.at)
            for item in advisories
        ]
        with self._db.transaction():
            before = {tuple(row) for row in self._advisories()}
            ids = {(row[2],) for row in kept} | {(storable(name),) for name in withdrawn}
            self._db.executemany("DELETE FROM advisory WHERE id = ?", list(ids))
            self._db.executemany("INSERT OR REPLACE INTO advisory VALUES (?, ?, ?, ?, ?)", kept)
            if before != {tuple(row) for row in self._advisories()}:
                self._db.touch(COMPONENTS)

    def forget_advisories(self) -> int:
        """Delete every advisory; return how many there were."""
        with self._db.transaction():
            self._db.execute("DELETE FROM advisory")
            gone = self._db.changes()
            if gone:
                self._db.touch(COMPONENTS)
        return gone

    def retired(self) -> frozenset[str]:
        """Return the ids of the components whose authors call them deprecated."""
        rows = self._db.rows(
            "SELECT n.key, substr(c.description, 1, ?) FROM component c JOIN node n ON n.id = c.node_id",
            (RETIRED_HEAD,),
        )
        return frozenset(key for key, head in rows if is_retired(head))

    def departed(self) -> list[Departure]:
        """Return the components that left their source while others required them."""
        return [Departure(*row) for row in self._db.rows("SELECT type, name, source, at FROM departed ORDER BY name")]

    def note_departed(self, gone: Iterable[Departure]) -> None:
        """Record that components left their source."""
        rows = [(item.type, storable(item.name), storable(item.source), item.at) for item in gone]
        with self._db.transaction():
            self._db.executemany("INSERT OR REPLACE INTO departed VALUES (?, ?, ?, ?)", rows)
            if rows:
                self._db.touch(COMPONENTS)

    def note_returned(self, back: Iterable[Departure]) -> None:
        """Delete the record that these components left, because they are back."""
        rows = [(item.type, item.name) for item in back]
        with self._db.transaction():
            self._db.executemany("DELETE FROM departed WHERE type = ? AND name = ?", rows)
            if rows:
                self._db.touch(COMPONENTS)

    def _advisories(self) -> list[tuple[Any, ...]]:
        return self._db.rows("SELECT ecosystem, package, id, data FROM advisory")
