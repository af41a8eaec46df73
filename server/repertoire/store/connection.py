"""Connects to one SQLite file that several processes share: write-ahead log, nested transactions, typed errors."""

from __future__ import annotations

import contextlib
import importlib.util
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import apsw

from repertoire.domain.database_file import APPLICATION_ID
from repertoire.domain.errors import StatementRefused, StoreError
from repertoire.domain.graph import HOME, Layout
from repertoire.store.light.bindings import marks, parts
from repertoire.store.opening import OpenOptions, harden, open_file, refuse_newer, translated

LOG_LIMIT = 16 * 1024 * 1024  # bytes: the size to which a checkpoint truncates the write-ahead log
Bindings = Sequence[Any] | Mapping[str, Any]


class Connection:
    """A connection whose errors name the file and say what to do. One thread at a time uses it."""

    def __init__(
        self, path: Path, *, known_schema: int, layout: Layout = HOME, read_only: bool = False, wait: float = 10.0
    ) -> None:
        self.path = path
        self._known = known_schema
        self.layout = layout  # the node kinds, relations, tables and views that the file may hold
        self._depth = 0
        self._touched: frozenset[str] = frozenset()
        with translated(path):
            opened = open_file(path, OpenOptions(known_schema, read_only, wait))
        self._db, self.read_only, self.stale = opened.db, opened.read_only, opened.stale
        try:
            with translated(path, self._db):
                refuse_newer(path, self.schema, known_schema)  # the log may hold a newer schema than the header
                self._load_vectors()
                self._db.pragma("temp_store", "memory")  # keeps prompts out of temporary files
                if not self.read_only:
                    self._prepare_for_writing()
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        """Release the file."""
        self._db.close()

    def copy_to(self, path: Path) -> None:
        """Write all that is committed into an empty or new file, which is complete when this returns.

        Raises:
            StoreError: the file is not empty, or the disk is full.
        """
        self.execute("VACUUM INTO ?", (str(path),))

    def harden(self) -> None:
        """Let nothing run that the file's own schema asks for, as when a stranger made the file."""
        with self._running():
            harden(self._db)

    @property
    def schema(self) -> int:
        """The number of the newest migration that the file has."""
        return int(self.value("PRAGMA user_version"))

    def define(self, name: str, function: Callable[..., str]) -> None:
        """Let statements call a function of one text."""
        with self._running():
            self._db.create_scalar_function(name, function, 1, deterministic=True)

    def execute(self, sql: str, bindings: Bindings = ()) -> None:
        """Run a statement and discard its rows."""
        with self._running():
            for _ in self._db.execute(sql, bindings):
                pass

    def rows(self, sql: str, bindings: Bindings = ()) -> list[tuple[Any, ...]]:
        """Return every row of a query."""
        with self._running():
            return self._db.execute(sql, bindings).fetchall()

    def stream(self, sql: str, bindings: Bindings = ()) -> Iterator[tuple[Any, ...]]:
        """Yield the rows of a query one by one, from one state of the file; the caller should read to the end soon."""
        with self._running():
            yield from self._db.execute(sql, bindings)

    def row(self, sql: str, bindings: Bindings = ()) -> tuple[Any, ...] | None:
        """Return the first row of a query, or None."""
        with self._running():
            return self._db.execute(sql, bindings).fetchone()

    def value(self, sql: str, bindings: Bindings = ()) -> Any:
        """Return the first column of the first row, or None."""
        row = self.row(sql, bindings)
        return None if row is None else row[0]

    def of_nodes(self, select: str, node_ids: Iterable[int]) -> Iterator[tuple[Any, ...]]:
        """Yield the rows of a query, whose table of nodes is `n`, for the nodes with these ids."""
        for part in parts(node_ids):
            yield from self.rows(f"{select} WHERE n.id IN ({marks(part)})", part)

    def meta(self, key: str) -> Any:
        """Return what the file's table `meta` holds under a key, or None."""
        return self.value("SELECT value FROM meta WHERE key = ?", (key,))

    def set_meta(self, key: str, value: object) -> None:
        """Keep a value in the file's table `meta`, in place of the former one."""
        self.execute("INSERT OR REPLACE INTO meta VALUES (?, ?)", (key, value))

    def executemany(self, sql: str, rows: Iterable[Bindings]) -> None:
        """Run one statement for each row of bindings."""
        with self._running():
            self._db.executemany(sql, rows)

    @property
    def last_id(self) -> int:
        """Return the rowid of the last insert."""
        return self._db.last_insert_rowid()

    def changes(self) -> int:
        """Count the rows that the last statement changed."""
        return self._db.changes()

    def total_changes(self) -> int:
        """Count the rows that changed since the file was opened, including the internal rows of virtual tables."""
        return self._db.total_changes()

    @property
    def in_transaction(self) -> bool:
        """Whether a transaction or a snapshot is open."""
        return self._db.in_transaction

    @property
    def touched(self) -> frozenset[str]:
        """The views that the open transaction has changed so far."""
        return self._touched

    def touch(self, *views: str) -> None:
        """Mark these views as changed: the outermost transaction raises the revision of each by 1 when it commits."""
        self._touched |= {*views}

    @contextlib.contextmanager
    def transaction(self) -> Iterator[None]:
        """Run a block as one transaction; blocks nest, and a failure in an inner block undoes that block only.

        The outermost block takes the write lock at once: SQLite cannot upgrade a read transaction after another
        process has written.
        """
        level, touched = self._depth, self._touched
        self.execute(f"SAVEPOINT level_{level}" if level else "BEGIN IMMEDIATE")
        self._depth += 1
        try:
            yield
            if not level:
                self._move_revisions()
            self.execute(f"RELEASE level_{level}" if level else "COMMIT")
        except BaseException:
            self._touched = touched
            self._undo(level)
            raise
        finally:
            self._depth = level
        if not level:
            self._touched = frozenset()

    @contextlib.contextmanager
    def snapshot(self) -> Iterator[None]:
        """Let every read in the block see one state of the file; the block must not write."""
        nested = self._db.in_transaction
        if nested:
            yield
            return
        self.execute("BEGIN DEFERRED")
        try:
            yield
        finally:
            if self._db.in_transaction:
                self.execute("COMMIT")

    def _move_revisions(self) -> None:
        for view in sorted(self._touched):
            self.execute(
                "INSERT INTO meta VALUES (?, 1) ON CONFLICT(key) DO UPDATE SET value = value + 1",
                (self.layout.views_by_name[view].revision,),
            )

    def _undo(self, level: int) -> None:
        # A full disk or a broken file ends the transaction by itself: a second ROLLBACK would mask the first error.
        if self._db.in_transaction:
            with translated(self.path, self._db):
                self._db.execute(f"ROLLBACK TO level_{level}; RELEASE level_{level}" if level else "ROLLBACK")

    @contextlib.contextmanager
    def _running(self) -> Iterator[None]:
        if self._depth and not self._db.in_transaction:
            # A caller that caught the error must not continue: the rest would be written without the beginning.
            message = (
                f"{self.path}: the transaction was undone by an earlier error, nothing of it was written; run it again"
            )
            raise StoreError(message)
        try:
            with translated(self.path, self._db):
                yield
        except StatementRefused:
            # A newer version, in another process, may have changed the tables since this one opened the file.
            with translated(self.path, self._db):
                refuse_newer(self.path, int(self._db.pragma("user_version")), self._known)
            raise

    def _load_vectors(self) -> None:
        # Loaded by its path: `import sqlite_vec` would import numpy, which takes 45 ms that a short command can save.
        spec = importlib.util.find_spec("sqlite_vec")
        if spec is None or not spec.submodule_search_locations:
            message = f"sqlite-vec is missing from {sys.prefix}; delete that folder, the next command builds it anew"
            raise StoreError(message)
        self._db.enable_load_extension(True)  # noqa: FBT003 - apsw's own signature
        self._db.load_extension(str(Path(spec.submodule_search_locations[0]) / "vec0"))
        self._db.enable_load_extension(False)  # noqa: FBT003

    def _prepare_for_writing(self) -> None:
        if self._db.pragma("application_id") != APPLICATION_ID:
            # Written to the file itself, before there is a log, so that the first page identifies the file as ours.
            with self.transaction():
                self._db.pragma("application_id", APPLICATION_ID)
        if self._db.pragma("journal_mode", "wal") != "wal":
            message = (
                f"the file system of {self.path} has no shared memory; set REPERTOIRE_HOME to a folder on a local disk"
            )
            raise StoreError(message)
        self._db.pragma("synchronous", "normal")
        self._db.pragma("foreign_keys", 1)
        self._db.pragma("secure_delete", 1)
        self._db.pragma("journal_size_limit", LOG_LIMIT)
        self._db.config(apsw.SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 0)
