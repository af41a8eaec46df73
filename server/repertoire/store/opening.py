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

from repertoire.domain.errors import (
    CorruptStore,
    ForeignStore,
    NewerStore,
    StoreBusy,
    StoreError,
    StoreFull,
    StoreReadOnly,
)

APPLICATION_ID = 0x52455054  # "REPT": tells our file from any other SQLite file
MENDED = ".mended"  # what the name of a file begins with, after the database's, that is about to take its place
_OURS = "event_is_not_changed"  # a name in our schema, by which a file is known whose header is not ours any more
_LEAST_ROOM = 65_536  # bytes: a write-ahead log and its index, as small as they can be
_SEARCHED = 64 << 20  # bytes
_MAGIC = b"SQLite format 3\x00"
_HEADER = 100  # bytes; `user_version` at 60, `application_id` at 68, both big-endian
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
        message = (
            f"{path} was written by a newer Repertoire (schema {schema}, this one knows {known}); "
            "update the plugin, the file was left as it is"
        )
        raise NewerStore(message)


@contextlib.contextmanager
def translated(path: Path, db: apsw.Connection | None = None) -> Iterator[None]:
    """Turn what SQLite raises in the block into errors that name the file and what to do."""
    try:
        yield
    except (apsw.NotADBError, apsw.CorruptError) as error:
        if db is not None:  # closing must not write the log into a file that may still be mended
            db.config(apsw.SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1)
        raise CorruptStore(_damaged(path, error)) from error
    except apsw.FullError as error:
        raise StoreFull(_full(path)) from error
    except (apsw.ReadOnlyError, apsw.CantOpenError, apsw.PermissionsError) as error:
        if _is_full(path):
            raise StoreFull(_full(path)) from error
        message = f"{path} cannot be written ({error}); set REPERTOIRE_HOME to a folder that can"
        raise StoreReadOnly(message) from error
    except (apsw.BusyError, apsw.LockedError) as error:
        message = f"{path} is locked by another process; try again, or end the session that holds it"
        raise StoreBusy(message) from error
    except apsw.IOError as error:
        if (db is not None and db.system_errno in _NO_ROOM) or _is_full(path):
            raise StoreFull(_full(path)) from error
        message = f"{path} could not be read or written ({error}); check the disk"
        raise StoreError(message) from error


def _damaged(path: Path, cause: object) -> str:
    return (
        f"{path} is damaged ({cause}), nothing in it was changed; run `repertoire rescue`, which sets it aside and "
        "brings over what can be read"
    )


def _full(path: Path) -> str:
    return f"no space left to write {path}; free some and run it again, nothing was changed"


def schema_in_header(path: Path) -> int | None:
    """Read the schema number without opening a database; None where there is no file or an empty one.

    Raises:
        StoreError: it is not ours, or its header is damaged.
    """
    if not path.exists():
        return None
    foreign = f"{path} is not a Repertoire database; move it away or set REPERTOIRE_HOME to another folder"
    if not path.is_file():
        raise ForeignStore(foreign)
    # Through SQLite's own file layer: a plain open() and close() would drop the locks that every other connection of
    # this process holds on the file, and another process could then delete the log under it.
    try:
        file = apsw.VFSFile("", str(path), [apsw.SQLITE_OPEN_READONLY | apsw.SQLITE_OPEN_MAIN_DB, 0])
        try:
            header = file.xRead(_HEADER, 0)
        finally:
            file.xClose()
    except (apsw.CantOpenError, apsw.IOError) as error:
        message = f"{path} cannot be read ({error}); check who owns it, or set REPERTOIRE_HOME to another folder"
        raise StoreReadOnly(message) from error
    if not header:
        return None
    whole, named = header.startswith(_MAGIC), header[68:72] == APPLICATION_ID.to_bytes(4, "big")
    if not named and not (_has_our_schema(path) if whole else _holds_our_schema(path)):
        raise ForeignStore(foreign)
    if not (whole and named):
        raise CorruptStore(_damaged(path, "its header"))
    return int.from_bytes(header[60:64], "big")


def _has_our_schema(path: Path) -> bool:
    """Tell whether a SQLite file that does not bear our number has our tables all the same."""
    try:
        db = apsw.Connection(
            f"{path.absolute().as_uri()}?immutable=1", flags=apsw.SQLITE_OPEN_READONLY | apsw.SQLITE_OPEN_URI
        )
        try:
            return db.execute("SELECT 1 FROM sqlite_schema WHERE name = ?", (_OURS,)).fetchone() is not None
        finally:
            db.close()
    except apsw.Error:
        return _holds_our_schema(path)


def _holds_our_schema(path: Path) -> bool:
    """Tell whether our schema stands somewhere in a file that SQLite cannot read."""
    file = apsw.VFSFile("", str(path), [apsw.SQLITE_OPEN_READONLY | apsw.SQLITE_OPEN_MAIN_DB, 0])
    try:
        return f"CREATE TRIGGER {_OURS}".encode() in file.xRead(min(file.xFileSize(), _SEARCHED), 0)
    finally:
        file.xClose()


def _refuse_to_lose(path: Path) -> None:
    """Let an empty place pass where a new database may be made; SQLite would delete a log without its file."""
    log = path.with_name(path.name + "-wal")
    if log.exists() and log.stat().st_size:
        raise CorruptStore(_damaged(path, "its file is gone, its log is not"))
    if not path.exists() and any(path.parent.glob(f"{path.name}{MENDED}*")):
        raise CorruptStore(_damaged(path, "what takes its place was not moved there yet"))


def _create(path: Path, wish: Wish) -> None:
    try:
        if wish.read_only:
            raise PermissionError(errno.EACCES, "opened to read")
        # Prompts lie in it: at no time readable by others.
        os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600))
    except FileExistsError:
        return  # another process was faster
    except OSError as error:
        if error.errno in _NO_ROOM:
            raise StoreFull(_full(path)) from error
        message = (
            f"there is no database at {path} and none can be made there ({error.strerror}); "
            "set REPERTOIRE_HOME to a writable folder"
        )
        raise StoreReadOnly(message) from error


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
