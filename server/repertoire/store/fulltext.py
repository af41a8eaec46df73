"""Merges the b-trees of each FTS5 index: every write adds one, and a query looks up each word in all of them."""

from __future__ import annotations

from repertoire.store.connection import Connection

_PAGES = 64  # pages of 4 KB that one step writes: it locks the file for some milliseconds, even with 100,000 components
_ALIKE = 2  # b-trees of about one size that are merged into one; SQLite's default of 4 leaves a dozen unmerged
_NOTHING = 2  # SQLite reports fewer changed rows than this if it found nothing to merge


class FullText:
    """Maintains the full-text indexes."""

    def __init__(self, connection: Connection) -> None:
        self._db = connection

    def merge(self) -> bool:
        """Merge b-trees of each index for a few milliseconds; tell whether more may be left to merge.

        Each call is a transaction of its own and leaves a complete index; the next call, in any process, continues.
        """
        more = [self._merge(view.text) for view in self._db.layout.views if view.text]
        return any(more)

    def _merge(self, table: str) -> bool:
        with self._db.transaction():
            if self._db.value(f"SELECT v FROM {table}_config WHERE k = 'usermerge'") != _ALIKE:
                self._command(table, "usermerge", _ALIKE)
            before = self._db.total_changes()
            self._command(table, "merge", _PAGES)
            return self._db.total_changes() - before >= _NOTHING

    def _command(self, table: str, command: str, value: int) -> None:
        self._db.execute(f"INSERT INTO {table}({table}, rank) VALUES (?, ?)", (command, value))
