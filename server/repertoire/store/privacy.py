"""Forgets for real: rows, full text, free pages and the write-ahead log."""

from __future__ import annotations

from repertoire.store.connection import Connection


class Privacy:
    """Deletion that leaves nothing behind in the file."""

    def __init__(self, connection: Connection) -> None:
        self._db = connection

    def forget_requests(self) -> int:
        """Delete every stored prompt, what was selected for it, and the log; return how many events went."""
        return self._forget("1", ())

    def forget_project(self, project: str) -> int:
        """Delete what was asked and used in one project folder; return how many events went."""
        return self._forget("project = ?", (project,))

    def _forget(self, where: str, bindings: tuple[str, ...]) -> int:
        with self._db.transaction():
            requests = [row[0] for row in self._db.rows(f"SELECT DISTINCT request FROM event WHERE {where}", bindings)]
            self._db.execute(f"DELETE FROM event WHERE {where}", bindings)
            gone = self._db.changes()
            if not bindings:
                requests = [row[0] for row in self._db.rows("SELECT key FROM node WHERE type = 'request'")]
            for request in requests:
                self._db.execute("DELETE FROM node WHERE type = 'request' AND key = ?", (request,))
                if self._db.changes():
                    self._db.touch()
        self.scrub()
        return gone

    def scrub(self) -> None:
        """Rewrite the file without its deleted content and empty the write-ahead log."""
        self._db.execute("VACUUM")
        self._db.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
