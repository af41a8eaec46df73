"""Writes and deletes the backup: a copy of the user data beside the database, replaced only by a complete one."""

from __future__ import annotations

import contextlib
import errno
import os
from collections.abc import Callable, Iterator
from pathlib import Path

from repertoire.boot.filelock import only_one
from repertoire.boot.home import backup_path
from repertoire.domain.errors import StoreBusy, StoreError
from repertoire.store.connection import Connection
from repertoire.store.user_data import NUMBERS, user_data_parts

_PATIENCE_S = 60


class Backup:
    """The backup of one database: an SQLite file with a plain table for each table that holds user data."""

    def __init__(self, connection: Connection) -> None:
        self._db = connection
        self.path = backup_path(connection.path)
        self._making = self.path.with_name(f"{self.path.name}.making")

    def write(self, *, now: str) -> None:
        """Write a backup; the former one is replaced when the new one is complete and on the disk.

        Do nothing while another process writes or deletes the backup.

        Raises:
            StoreError: the database is damaged, or the disk is full; the former backup remains.
        """
        with contextlib.suppress(StoreBusy), self._alone(_give_up):
            self._making.unlink(missing_ok=True)
            try:
                self._making.touch(mode=0o600, exist_ok=False)
                self._copy(now)
                _flush(self._making)
                self._making.replace(self.path)
            except BaseException:
                self._making.unlink(missing_ok=True)
                raise

    @contextlib.contextmanager
    def deleted(self) -> Iterator[None]:
        """Delete the backup with the block, and let no process write one meanwhile; it stays where the block fails.

        Raises:
            StoreError: it cannot be deleted; the block is not run.
        """
        with self._alone(_wait):
            self._making.unlink(missing_ok=True)  # left by a killed process
            if self.path.is_dir():
                raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(self.path))
            with contextlib.suppress(FileNotFoundError):
                self.path.replace(self._making)  # where nobody reads it, should this process be killed
            try:
                yield
            except BaseException:
                with contextlib.suppress(FileNotFoundError):
                    self._making.replace(self.path)
                raise
            self._making.unlink(missing_ok=True)

    def _copy(self, now: str) -> None:
        self._db.execute("ATTACH ? AS copy", (str(self._making),))
        try:
            self._db.execute("PRAGMA copy.journal_mode = off")  # nobody opens it before it is complete
            self._db.execute("PRAGMA copy.synchronous = off")
            self._db.execute(f"PRAGMA copy.user_version = {self._db.schema:d}")
            with self._db.snapshot():
                parts = user_data_parts(self._db.layout)
                for table, sql in (pair for part in parts for pair in part.items()):
                    self._db.execute(f"CREATE TABLE copy.{table} AS {sql}")
                if self._db.value("SELECT 1 FROM main.sqlite_schema WHERE name = 'sqlite_sequence'"):
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


def _give_up(_seconds: int) -> None:
    message = "another process writes the backup"
    raise StoreBusy(message)


def _wait(seconds: int) -> None:
    if seconds >= _PATIENCE_S:
        message = f"another process has been writing the backup for {seconds} s; nothing was deleted, try again"
        raise StoreBusy(message)


def _flush(path: Path) -> None:
    handle = os.open(path, os.O_RDWR)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
