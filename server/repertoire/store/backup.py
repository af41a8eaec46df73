"""Keeps a copy of what is a person's own beside the database: always whole, and forgotten with what it copies."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Iterator
from pathlib import Path

from repertoire.boot.filelock import only_one
from repertoire.boot.home import backup_path
from repertoire.domain.errors import StoreBusy, StoreError
from repertoire.store.connection import Connection
from repertoire.store.own import NUMBERS, own_parts

_PATIENCE_S = 60


class Backup:
    """The copy of one database, as SQLite's own file: a plain table for each that holds something of a person's."""

    def __init__(self, connection: Connection) -> None:
        self._db = connection
        self.path = backup_path(connection.path)
        self._making = self.path.with_name(f"{self.path.name}.making")

    def write(self, *, now: str) -> None:
        """Copy what stands in the database now; until that is complete and on the disk, the copy before it stays.

        Where another process is at it, or is forgetting, that is left to it.

        Raises:
            StoreError: the database is damaged, or there is no room; the copy before it is still there.
        """
        with contextlib.suppress(StoreBusy), self._alone(_not_now):
            self._making.unlink(missing_ok=True)
            try:
                os.close(os.open(self._making, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))
                self._copy(now)
                _to_disk(self._making)
                self._making.replace(self.path)
            except BaseException:
                self._making.unlink(missing_ok=True)
                raise

    @contextlib.contextmanager
    def forgetting(self) -> Iterator[None]:
        """Have no copy for the length of the block, whoever would write one.

        Raises:
            StoreError: it cannot be deleted; the block did not begin.
        """
        with self._alone(_patient):
            self._making.unlink(missing_ok=True)  # of a process that was killed
            self.path.unlink(missing_ok=True)
            yield

    def _copy(self, now: str) -> None:
        self._db.execute("ATTACH ? AS copy", (str(self._making),))
        try:
            self._db.execute("PRAGMA copy.journal_mode = off")  # nobody sees it before it is complete
            self._db.execute("PRAGMA copy.synchronous = off")
            self._db.execute(f"PRAGMA copy.user_version = {self._db.schema:d}")
            with self._db.snapshot():
                for table, sql in ((table, sql) for part in own_parts(self._db.layout) for table, sql in part.items()):
                    self._db.execute(f"CREATE TABLE copy.{table} AS {sql}")
                self._db.execute(f"CREATE TABLE copy.{NUMBERS} AS SELECT name, seq FROM main.sqlite_sequence")
                self._db.execute("CREATE TABLE copy.made(at TEXT)")
                self._db.execute("INSERT INTO copy.made VALUES (?)", (now,))
        finally:
            self._db.execute("DETACH copy")

    @contextlib.contextmanager
    def _alone(self, waiting: Callable[[int], None]) -> Iterator[None]:
        try:
            with only_one(self.path.parent / "backup.lock", waiting):
                yield
        except OSError as error:
            message = (
                f"{self.path} could not be written or deleted ({error.strerror}); "
                f"free space or correct the mode of {self.path.parent}, and run the same command again"
            )
            raise StoreError(message) from error


def _not_now(_seconds: int) -> None:
    message = "another process writes the backup"
    raise StoreBusy(message)


def _patient(seconds: int) -> None:
    if seconds >= _PATIENCE_S:
        message = f"another process has been writing the backup for {seconds} s; nothing was deleted, try again"
        raise StoreBusy(message)


def _to_disk(path: Path) -> None:
    handle = os.open(path, os.O_RDWR)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
