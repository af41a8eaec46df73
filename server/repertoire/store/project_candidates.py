"""Keeps what a session showed that may be worth a note, until a person accepts or rejects it."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from repertoire.store.connection import Connection
from repertoire.store.light.bindings import marks
from repertoire.store.rows import storable

MOST = 50  # candidates that wait; the oldest go first
_CLEARED = "candidates cleared"  # key in `meta`
_REJECTED = 2_000  # names of rejected ones, which are not proposed again


class Candidate(NamedTuple):
    """A sentence that may be worth a note or a task, named by a hash of its words."""

    name: str
    kind: str
    category: str
    said: str
    at: str


class ProjectCandidates:
    """The candidates of a project."""

    def __init__(self, connection: Connection) -> None:
        self._db = connection

    def add(self, candidates: Iterable[Candidate]) -> None:
        """Add candidates; one that waits already, or was rejected, is left as it is."""
        with self._db.transaction():
            self._db.executemany(
                "INSERT OR IGNORE INTO candidate(name, kind, category, said, at) VALUES (?, ?, ?, ?, ?)",
                [(one.name, one.kind, one.category, storable(one.said), one.at) for one in candidates],
            )
            self._trim("said <> ''", MOST)

    def waiting(self) -> list[Candidate]:
        """Return the candidates that nobody decided on, the newest first."""
        rows = self._db.rows(
            "SELECT name, kind, category, said, at FROM candidate WHERE said <> '' ORDER BY at DESC, name"
        )
        return [Candidate(*map(str, row)) for row in rows]

    def known(self, names: Iterable[str]) -> set[str]:
        """Return those of the names that wait or were decided on."""
        wanted = list(names)
        return {
            str(name)
            for (name,) in self._db.rows(f"SELECT name FROM candidate WHERE name IN ({marks(wanted)})", wanted)
        }

    def settle(self, names: Iterable[str], *, now: str) -> None:
        """Forget the words of candidates that a person decided on; their names stay, so that none comes again."""
        with self._db.transaction():
            self._db.executemany("UPDATE candidate SET said = '', at = ? WHERE name = ?", [(now, one) for one in names])
            self._trim("said = ''", _REJECTED)

    def clear(self) -> None:
        """Forget all candidates that wait."""
        with self._db.transaction():
            self._db.execute("DELETE FROM candidate WHERE said <> ''")
            self._db.set_meta(_CLEARED, self.times_cleared() + 1)

    def times_cleared(self) -> int:
        """Return how often all were forgotten: what a process heard before the last time must not come back."""
        return int(self._db.meta(_CLEARED) or 0)

    def _trim(self, which: str, most: int) -> None:
        self._db.execute(
            f"""DELETE FROM candidate WHERE {which} AND name NOT IN
                (SELECT name FROM candidate WHERE {which} ORDER BY at DESC, name LIMIT ?)""",
            (most,),
        )
