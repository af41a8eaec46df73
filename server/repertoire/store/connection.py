"""One SQLite file, opened so that several processes lose nothing: WAL, nesting transactions, typed errors."""

from __future__ import annotations

import contextlib
import importlib.util
import os
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import apsw

from repertoire.domain.errors import (
    CorruptStore,
    ForeignStore,
    StoreBusy,
    StoreError,
    StoreFull,
    StoreReadOnly,
)

APPLICATION_ID = 0x52455054  # "REPT": tells our file from any other SQLite file
BUSY_TIMEOUT_MS = 10_000  # longer than any of our write transactions; past it something hangs
Bindings = Sequence[Any] | Mapping[str, Any]


class Connection:
    """A connection whose errors name the file and say what to do."""

    def __init__(self, path: Path, *, read_only: bool = False) -> None:
        self.path = path
        self._depth = 0
        self._touched = False
        with self._translated():
            self._db, self.read_only = _open(path, read_only=read_only)
            self._load_vectors()
            if not self.read_only:
                self._prepare_for_writing()

    def close(self) -> None:
        """Release the file."""
        self._db.close()

    def execute(self, sql: str, bindings: Bindings = ()) -> apsw.Cursor:
        """Run one statement."""
        with self._translated():
            return self._db.execute(sql, bindings)

    def rows(self, sql: str, bindings: Bindings = ()) -> list[tuple[Any, ...]]:
        """Return every row of a query."""
        with self._translated():
            return self._db.execute(sql, bindings).fetchall()

    def row(self, sql: str, bindings: Bindings = ()) -> tuple[Any, ...] | None:
        """Return the first row of a query, or None."""
        with self._translated():
            return self._db.execute(sql, bindings).fetchone()

    def value(self, sql: str, bindings: Bindings = ()) -> Any:
        """Return the first column of the first row, or None."""
        row = self.row(sql, bindings)
        return None if row is None else row[0]

    def executemany(self, sql: str, rows: Iterator[Bindings] | Sequence[Bindings]) -> None:
        """Run one statement for each row of bindings."""
        with self._translated():
            self._db.executemany(sql, rows)

    @property
    def last_id(self) -> int:
        """The rowid of the last insert."""
        return self._db.last_insert_rowid()

    def changes(self) -> int:
        """Count the rows that the last statement changed."""
        return self._db.changes()

    def touch(self) -> None:
        """Note that nodes or edges changed: the revision moves when the outermost transaction commits."""
        self._touched = True

    @contextlib.contextmanager
    def transaction(self) -> Iterator[None]:
        """Run a block whole or not at all; blocks nest, and an inner failure undoes the inner block only.

        The outermost takes the write lock at once: one that began as a reader could not be upgraded without losing
        the race to another process.
        """
        name = f"level_{self._depth}"
        self.execute("BEGIN IMMEDIATE" if self._depth == 0 else f"SAVEPOINT {name}")
        self._depth += 1
        try:
            yield
        except BaseException:
            self._depth -= 1
            self._undo(name)
            raise
        self._depth -= 1
        if self._depth:
            self.execute(f"RELEASE {name}")
            return
        try:
            if self._touched:
                self.execute("UPDATE meta SET value = value + 1 WHERE key = 'revision'")
            self.execute("COMMIT")
        except BaseException:
            self._undo(name)
            raise
        finally:
            self._touched = False

    @contextlib.contextmanager
    def snapshot(self) -> Iterator[None]:
        """Let every read in the block see one state of the file."""
        if self._depth:
            yield
            return
        self.execute("BEGIN DEFERRED")
        try:
            yield
        finally:
            self.execute("COMMIT")

    def _undo(self, name: str) -> None:
        # A full disk or a broken file ends the transaction by itself: a second ROLLBACK would mask the first error.
        if not self._db.in_transaction:
            return
        if self._depth:
            self._db.execute(f"ROLLBACK TO {name}; RELEASE {name}")
        else:
            self._touched = False
            self._db.execute("ROLLBACK")

    def _load_vectors(self) -> None:
        # By path: `import sqlite_vec` would import numpy, 45 ms that a short command does not need.
        spec = importlib.util.find_spec("sqlite_vec")
        if spec is None or not spec.submodule_search_locations:
            message = "sqlite-vec is not installed in this environment; run `repertoire doctor`"
            raise StoreError(message)
        self._db.enable_load_extension(True)  # noqa: FBT003 - apsw's own signature
        self._db.load_extension(str(Path(spec.submodule_search_locations[0]) / "vec0"))
        self._db.enable_load_extension(False)  # noqa: FBT003

    def _prepare_for_writing(self) -> None:
        application = self._db.pragma("application_id")
        if application != APPLICATION_ID:
            if application or self.value("SELECT count(*) FROM sqlite_schema"):
                raise ForeignStore(_foreign(self.path))
            self._db.pragma("application_id", APPLICATION_ID)
        self._db.pragma("journal_mode", "wal")
        self._db.pragma("synchronous", "normal")
        self._db.pragma("foreign_keys", 1)
        self._db.pragma("secure_delete", 1)

    @contextlib.contextmanager
    def _translated(self) -> Iterator[None]:
        try:
            yield
        except apsw.NotADBError as error:
            raise ForeignStore(_foreign(self.path)) from error
        except apsw.CorruptError as error:
            message = (
                f"{self.path} is damaged ({error}); move it away and run `repertoire ingest` to rebuild it, "
                "nothing in it was changed"
            )
            raise CorruptStore(message) from error
        except apsw.FullError as error:
            message = f"no space left to write {self.path}; free some and run it again"
            raise StoreFull(message) from error
        except (apsw.ReadOnlyError, apsw.CantOpenError, apsw.PermissionsError) as error:
            message = f"{self.path} cannot be written ({error}); set REPERTOIRE_HOME to a folder that can"
            raise StoreReadOnly(message) from error
        except (apsw.BusyError, apsw.LockedError) as error:
            message = f"{self.path} was locked by another process for over {BUSY_TIMEOUT_MS // 1000} s; try again"
            raise StoreBusy(message) from error
        except apsw.IOError as error:
            message = f"{self.path} could not be read or written ({error}); check the disk"
            raise StoreError(message) from error


def _foreign(path: Path) -> str:
    return f"{path} is not a Repertoire database; move it away or set REPERTOIRE_HOME to another folder"


def _open(path: Path, *, read_only: bool) -> tuple[apsw.Connection, bool]:
    writable = os.access(path if path.exists() else path.parent, os.W_OK) and os.access(path.parent, os.W_OK)
    if not read_only and writable:
        flags = apsw.SQLITE_OPEN_READWRITE | apsw.SQLITE_OPEN_CREATE
        db = apsw.Connection(str(path), flags=flags)
        with contextlib.suppress(OSError):
            path.chmod(0o600)
    else:
        if not path.exists():
            message = (
                f"there is no database at {path} and none can be made there; set REPERTOIRE_HOME to a writable folder"
            )
            raise StoreReadOnly(message)
        # A WAL database in a folder that cannot be written opens only as immutable.
        suffix = "?mode=ro" if os.access(path.parent, os.W_OK) else "?immutable=1"
        db = apsw.Connection(path.absolute().as_uri() + suffix, flags=apsw.SQLITE_OPEN_READONLY | apsw.SQLITE_OPEN_URI)
    db.set_busy_timeout(BUSY_TIMEOUT_MS)
    db.execute("SELECT count(*) FROM sqlite_schema").fetchall()  # reads the header: a foreign file fails here
    return db, not (not read_only and writable)
