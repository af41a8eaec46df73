"""Opens the database file without changing one that is not ours: its header is judged before SQLite touches it."""

from __future__ import annotations

import contextlib
import errno
import os
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import apsw

from repertoire.boot.home import lost
from repertoire.domain.database_file import (
    APPLICATION_ID,
    HEADER,
    OURS,
    SEARCHED,
    TRIGGER,
    bears_our_number,
    damaged_text,
    dangling_text,
    foreign_text,
    is_sqlite,
    newer_text,
    schema_of,
    unmakeable_text,
    unreadable_text,
    unwritable_text,
)
from repertoire.domain.errors import (
    CorruptStore,
    ForeignStore,
    NewerStore,
    StoreBusy,
    StoreError,
    StoreFull,
    StoreReadOnly,
)

_LEAST_ROOM = 65_536  # bytes: a write-ahead log and its index, as small as they can be
_BINARY = getattr(os, "O_BINARY", 0)
_NO_ROOM = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG})


@dataclass(frozen=True)
class Opened:
    """An open file, and how it could be opened.

    `stale`: what was written since the last checkpoint cannot be read from here.
    """

    db: apsw.Connection
    read_only: bool
    stale: bool = False


@dataclass(frozen=True)
class Wish:
    """How the file should be opened: newest schema that the caller knows, seconds to wait for a lock."""

    known_schema: int
    read_only: bool
    wait: float


def open_file(path: Path, wish: Wish) -> Opened:
    """Open the file for writing, else for reading; make it where there is none.

    Raises:
        StoreError: the file is foreign, newer, corrupt, or cannot be opened at all; it was left as it is.
    """
    schema = schema_in_header(path)
    if schema is not None:
        refuse_newer(path, schema, wish.known_schema)
    else:
        _refuse_to_lose(path)
    if schema is None and not path.exists():
        _create(path, wish)
    if not wish.read_only:
        try:
            db = _connect(str(path), apsw.SQLITE_OPEN_READWRITE, wish)
            if not db.readonly("main"):
                return Opened(db, read_only=False)
            db.close()
        except apsw.Error as error:
            _refuse_unless_unwritable(path, error)
    return _open_to_read(path, wish)


def _refuse_unless_unwritable(path: Path, error: apsw.Error) -> None:
    """Pass over what SQLite raises where it can neither write the file nor make what it needs beside it."""
    if isinstance(error, (apsw.CantOpenError, apsw.ReadOnlyError, apsw.PermissionsError)):
        return
    if not isinstance(error, apsw.IOError) or not _is_full(path):
        raise error


def _is_full(path: Path) -> bool:
    """Tell whether the disk has no room for what SQLite keeps beside a file."""
    try:
        return shutil.disk_usage(path.parent).free < _LEAST_ROOM
    except OSError:
        return False


def refuse_newer(path: Path, schema: int, known: int) -> None:
    """Let a schema pass that this version knows.

    Raises:
        NewerStore: it is newer.
    """
    if schema > known:
        raise NewerStore(newer_text(path, schema, known))


@contextlib.contextmanager
def translated(path: Path, db: apsw.Connection | None = None) -> Iterator[None]:
    """Turn what SQLite raises in the block into errors that name the file and what to do."""
    try:
        yield
    except (apsw.NotADBError, apsw.CorruptError) as error:
        if db is not None:  # closing must not write the log into a file that may still be mended
            db.config(apsw.SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1)
        raise CorruptStore(damaged_text(path, error)) from error
    except apsw.FullError as error:
        raise StoreFull(_full(path)) from error
    except (apsw.ReadOnlyError, apsw.CantOpenError, apsw.PermissionsError) as error:
        if _is_full(path):
            raise StoreFull(_full(path)) from error
        raise StoreReadOnly(unwritable_text(path, error)) from error
    except (apsw.BusyError, apsw.LockedError) as error:
        message = f"{path} is locked by another process; try again, or end the session that holds it"
        raise StoreBusy(message) from error
    except apsw.IOError as error:
        if (db is not None and db.system_errno in _NO_ROOM) or _is_full(path):
            raise StoreFull(_full(path)) from error
        message = f"{path} could not be read or written ({error}); check the disk"
        raise StoreError(message) from error


def _full(path: Path) -> str:
    return f"no space left to write {path}; free some and run it again, nothing was changed"


def schema_in_header(path: Path) -> int | None:
    """Read the schema number without opening a database; None where there is no file or an empty one.

    Raises:
        StoreError: it is not ours, or its header is damaged.
    """
    if not path.exists():
        if path.is_symlink():
            raise ForeignStore(dangling_text(path))
        return None
    if not path.is_file():
        raise ForeignStore(foreign_text(path))
    # Through SQLite's own file layer: a plain open() and close() would drop the locks that every other connection of
    # this process holds on the file, and another process could then delete the log under it.
    try:
        file = apsw.VFSFile("", str(path), [apsw.SQLITE_OPEN_READONLY | apsw.SQLITE_OPEN_MAIN_DB, 0])
        try:
            header = file.xRead(HEADER, 0)
        finally:
            file.xClose()
    except (apsw.CantOpenError, apsw.IOError) as error:
        raise StoreReadOnly(unreadable_text(path, error)) from error
    if not header:
        return None
    whole, named = is_sqlite(header), bears_our_number(header)
    if not named and not (_has_our_schema(path) if whole else _holds_our_schema(path)):
        raise ForeignStore(foreign_text(path))
    if not (whole and named):
        raise CorruptStore(damaged_text(path, "its header"))
    return schema_of(header)


def _has_our_schema(path: Path) -> bool:
    """Tell whether a SQLite file that does not bear our number has our tables all the same."""
    try:
        db = apsw.Connection(
            f"{path.absolute().as_uri()}?immutable=1", flags=apsw.SQLITE_OPEN_READONLY | apsw.SQLITE_OPEN_URI
        )
        try:
            return db.execute("SELECT 1 FROM sqlite_schema WHERE name = ?", (OURS,)).fetchone() is not None
        finally:
            db.close()
    except apsw.Error:
        return _holds_our_schema(path)


def _holds_our_schema(path: Path) -> bool:
    """Tell whether our schema stands somewhere in a file that SQLite cannot read."""
    file = apsw.VFSFile("", str(path), [apsw.SQLITE_OPEN_READONLY | apsw.SQLITE_OPEN_MAIN_DB, 0])
    try:
        return TRIGGER in file.xRead(min(file.xFileSize(), SEARCHED), 0)
    finally:
        file.xClose()


def _refuse_to_lose(path: Path) -> None:
    """Let an empty place pass where a new database may be made; SQLite would delete a log without its file."""
    cause = lost(path)
    if cause:
        raise CorruptStore(damaged_text(path, cause))


def _create(path: Path, wish: Wish) -> None:
    try:
        if wish.read_only:
            raise PermissionError(errno.EACCES, "opened to read")
        # Prompts lie in it: at no time readable by others. Never seen empty either: that is what was lost looks like.
        with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | _BINARY, 0o600), "wb") as file:
            file.write(_first_page())
    except FileExistsError:
        return  # another process was faster
    except OSError as error:
        if error.errno in _NO_ROOM:
            raise StoreFull(_full(path)) from error
        raise StoreReadOnly(unmakeable_text(path, error.strerror)) from error


def _first_page() -> bytes:
    """Return a database without a table, ours by its number."""
    db = apsw.Connection(":memory:")
    try:
        db.pragma("application_id", APPLICATION_ID)
        return db.serialize("main")
    finally:
        db.close()


def _open_to_read(path: Path, wish: Wish) -> Opened:
    address = path.absolute().as_uri()
    flags = apsw.SQLITE_OPEN_READONLY | apsw.SQLITE_OPEN_URI
    try:
        return Opened(_connect(f"{address}?mode=ro", flags, wish), read_only=True)
    except apsw.Error as error:
        _refuse_unless_unwritable(path, error)
    # Neither is there shared memory beside the file nor can it be made: read the file alone, without its log.
    log = path.with_name(path.name + "-wal")
    stale = log.exists() and log.stat().st_size > 0
    return Opened(_connect(f"{address}?immutable=1", flags, wish), read_only=True, stale=stale)


def _connect(name: str, flags: int, wish: Wish) -> apsw.Connection:
    db = apsw.Connection(name, flags=flags)
    try:
        # Off until the schema is known to be ours: closing a newer or damaged file must not write its log into it.
        db.config(apsw.SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1)
        db.set_busy_timeout(int(wish.wait * 1000))
        db.execute("SELECT count(*) FROM sqlite_schema").fetchall()  # opens the log too: fails here, not later
    except apsw.SQLError as error:  # "unsupported file format": the header is ours, so it is not the truth
        db.close()
        raise apsw.CorruptError(str(error)) from error
    except BaseException:
        db.close()
        raise
    return db
