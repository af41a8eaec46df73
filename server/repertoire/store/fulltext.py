"""Keeps each full-text index in few pieces: every write leaves one more, and each is looked into for every word."""

from __future__ import annotations

from repertoire.store.connection import Connection

_PAGES = 64  # of 4 KB that a step writes: some milliseconds for which the file is locked, at 100,000 components too
_ALIKE = 2  # pieces of about one size that become one; SQLite's own 4 leave a dozen behind
_NOTHING = 2  # rows that SQLite says to have changed where it found nothing to merge: fewer than these


class FullText:
    """The full-text indexes, each as a whole."""

    def __init__(self, connection: Connection) -> None:
        self._db = connection

    def merge(self) -> bool:
        """Merge pieces of about one size for a few milliseconds; tell whether there may be more to merge.

        Each call is a transaction of its own: it leaves a whole index, and whoever comes next carries on from there.
        """
        more = [self._merge(view.text) for view in self._db.layout.views if view.text]
        return any(more)

    def _merge(self, table: str) -> bool:
        with self._db.transaction():
            if self._db.value(f"SELECT v FROM {table}_config WHERE k = 'usermerge'") != _ALIKE:
                self._tell(table, "usermerge", _ALIKE)
            before = self._db.total_changes()
            self._tell(table, "merge", _PAGES)
            return self._db.total_changes() - before >= _NOTHING

    def _tell(self, table: str, command: str, value: int) -> None:
        self._db.execute(f"INSERT INTO {table}({table}, rank) VALUES (?, ?)", (command, value))
