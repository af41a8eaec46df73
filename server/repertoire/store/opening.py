"""Opens the database file, and checks its header first, so that a file that is not ours is never changed."""

from __future__ import annotations

import contextlib
import errno
import os
import shutil
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import apsw

from repertoire.boot import filelock
from repertoire.boot.home import lost
from repertoire.domain.database_file import (
    APPLICATION_ID,
    HEADER,
    OURS,
    SEARCHED,
    bears_our_mark,
    bears_our_number,
    damaged_text,
    dangling_text,
    foreign_text,
    is_sqlite,
    lockless_text,
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
    StatementRefused,
    StoreBusy,
    StoreError,
    StoreFull,
    StoreReadOnly,
)

_LEAST_ROOM = 65_536  # bytes: the smallest size of a write-ahead log and its index
_BINARY = getattr(os, "O_BINARY", 0)
_NO_LINKS = frozenset({errno.EPERM, errno.ENOTSUP, errno.EOPNOTSUPP, errno.ENOSYS, errno.EMLINK})
_UNWRITABLE = (apsw.ReadOnlyError, apsw.CantOpenError, apsw.PermissionsError)
_NO_ROOM = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG})
_NO_LOCKS = frozenset(
    {apsw.SQLITE_IOERR_LOCK, apsw.SQLITE_IOERR_RDLOCK, apsw.SQLITE_IOERR_SHMLOCK, apsw.SQLITE_IOERR_SHMMAP}
)


@dataclass(frozen=True)
class Opened:
    """An open database, and whether it is read-only or stale.

    `stale`: the writes since the last checkpoint are not visible, because the log cannot be read.
    """

    db: apsw.Connection
    read_only: bool
    stale: bool = False


@dataclass(frozen=True)
class OpenOptions:
    """How a caller wants the file opened: the newest schema it knows, read-only or not, seconds to wait for a lock."""

    known_schema: int
    read_only: bool
    busy_wait_s: float


def open_file(path: Path, options: OpenOptions) -> Opened:
    """Open the file for writing, or if that fails for reading; create it if there is none.

    Raises:
        StoreError: the file is foreign, newer, corrupt, or cannot be opened at all; it was left as it is.
    """
    schema = schema_in_header(path)
    if schema is not None:
        refuse_newer(path, schema, options.known_schema)
    else:
        _refuse_to_lose(path)
    if schema is None and not path.exists():
        _create(path, options)
    if not options.read_only:
        try:
            db = _connect(str(path), apsw.SQLITE_OPEN_READWRITE, options)
            if not db.readonly("main"):
                return Opened(db, read_only=False)
            db.close()
        except apsw.Error as error:
            _raise_unless_read_only(path, error)
    return _open_to_read(path, options)


def _raise_unless_read_only(path: Path, error: apsw.Error) -> None:
    """Raise an SQLite error again, unless the file or folder cannot be written, or the disk is full."""
    if isinstance(error, _UNWRITABLE):
        return
    if not isinstance(error, apsw.IOError) or not lacks_space(path):
        raise error


def lacks_space(path: Path) -> bool:
    """Tell whether the disk has no room for the write-ahead log of a file."""
    try:
        return shutil.disk_usage(path.parent).free < _LEAST_ROOM
    except OSError:
        return False


def refuse_newer(path: Path, schema: int, known: int) -> None:
    """Raise an error if the schema is newer than this version knows.

    Raises:
        NewerStore: it is newer.
    """
    if schema > known:
        raise NewerStore(newer_text(path, schema, known))


@contextlib.contextmanager
def translated(path: Path, db: apsw.Connection | None = None) -> Iterator[None]:
    """Translate SQLite's errors in the block into typed errors that name the file and say what to do."""
    try:
        yield
    except (apsw.NotADBError, apsw.CorruptError) as error:
        if db is not None:  # closing must not write the log into a file that may still be repaired
            db.config(apsw.SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1)
        raise CorruptStore(damaged_text(path, error)) from error
    except (apsw.BusyError, apsw.LockedError) as error:
        if _lacks_locks(path):
            raise StoreError(lockless_text(path)) from error
        message = f"{path} is locked by another process; try again, or end the session that holds it"
        raise StoreBusy(message) from error
    except apsw.Error as error:
        if _lacks_room(path, db, error):
            raise StoreFull(_full(path)) from error
        if isinstance(error, _UNWRITABLE):
            raise StoreReadOnly(unwritable_text(path, error)) from error
        if isinstance(error, apsw.IOError) and getattr(error, "extendedresult", 0) in _NO_LOCKS:
            raise StoreError(lockless_text(path)) from error
        if isinstance(error, apsw.IOError):
            message = f"{path} could not be read or written ({error}); check the disk"
            raise StoreError(message) from error
        message = (
            f"{path} refused what was to be read or written ({error}), nothing of it was written; run it again, and "
            "report these words if that fails too"
        )
        raise StatementRefused(message) from error


def _lacks_locks(path: Path) -> bool:
    """Tell whether not even a file that nobody holds can be locked there: SQLite says of both that it is busy."""
    with contextlib.suppress(OSError), tempfile.TemporaryDirectory(dir=path.parent, prefix=f".{path.name}-") as place:
        return not filelock.is_free(Path(place, "lock"))
    return False


def _lacks_room(path: Path, db: apsw.Connection | None, error: apsw.Error) -> bool:
    """Tell whether an error comes of a full disk, which SQLite has several names for: `logic error` in sqlite-vec."""
    if isinstance(error, apsw.IOError) and db is not None and db.system_errno in _NO_ROOM:
        return True
    called = (apsw.IOError, apsw.SQLError, *_UNWRITABLE)
    return isinstance(error, apsw.FullError) or (isinstance(error, called) and lacks_space(path))


def _full(path: Path) -> str:
    return f"no space left to write {path}, nothing of it was written; free some and run it again"


def schema_in_header(path: Path) -> int | None:
    """Read the schema number from the file header; None if there is no file or it is empty.

    Raises:
        StoreError: it is not ours, or its header is damaged.
    """
    if not path.exists():
        if path.is_symlink():
            raise ForeignStore(dangling_text(path))
        return None
    if not path.is_file():
        raise ForeignStore(foreign_text(path))
    # Read through SQLite's file layer: a plain open() and close() would drop the locks that every other connection of
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
    """Tell whether an SQLite file without our application id has our tables."""
    try:
        db = apsw.Connection(
            f"{path.absolute().as_uri()}?immutable=1", flags=apsw.SQLITE_OPEN_READONLY | apsw.SQLITE_OPEN_URI
        )
        try:
            return db.execute("SELECT 1 FROM sqlite_schema WHERE name IN (?, ?)", OURS).fetchone() is not None
        finally:
            db.close()
    except apsw.Error:
        return _holds_our_schema(path)


def _holds_our_schema(path: Path) -> bool:
    """Tell whether a file that SQLite cannot read contains the text of our schema."""
    file = apsw.VFSFile("", str(path), [apsw.SQLITE_OPEN_READONLY | apsw.SQLITE_OPEN_MAIN_DB, 0])
    try:
        return bears_our_mark(file.xRead(min(file.xFileSize(), SEARCHED), 0))
    finally:
        file.xClose()


def harden(db: apsw.Connection) -> None:
    """Let a connection run nothing that the file's own schema asks for, and check what it reads."""
    db.config(apsw.SQLITE_DBCONFIG_DEFENSIVE, 1)
    db.config(apsw.SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0)
    db.config(apsw.SQLITE_DBCONFIG_ENABLE_TRIGGER, 0)
    db.config(apsw.SQLITE_DBCONFIG_ENABLE_VIEW, 0)
    db.pragma("cell_size_check", 1)


def _refuse_to_lose(path: Path) -> None:
    """Raise an error if a database was lost here; SQLite would delete a write-ahead log without its database."""
    cause = lost(path)
    if cause:
        raise CorruptStore(damaged_text(path, cause))


def _create(path: Path, options: OpenOptions) -> None:
    try:
        if options.read_only:
            raise PermissionError(errno.EACCES, "opened to read")
        _place(path, _first_page())
    except FileExistsError:
        return  # another process created it meanwhile
    except OSError as error:
        if error.errno in _NO_ROOM:
            raise StoreFull(_full(path)) from error
        raise StoreReadOnly(unmakeable_text(path, error.strerror)) from error


def _place(path: Path, content: bytes) -> None:
    """Make a file with this content whole, or raise FileExistsError: no other process ever reads a part of it.

    It is private from the start, since it will hold prompts.
    """
    descriptor, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}-")
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(content)
        os.link(name, path)
    except OSError as error:
        if error.errno not in _NO_LINKS:
            raise
        with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | _BINARY, 0o600), "wb") as file:
            file.write(content)
    finally:
        Path(name).unlink()


def _first_page() -> bytes:
    """Return the bytes of a database without tables, with our application id and a write-ahead log.

    Of two processes that switch a file to a write-ahead log, one fails at once: SQLite does not let it wait.
    """
    db = apsw.Connection(":memory:")
    try:
        db.pragma("application_id", APPLICATION_ID)
        page = bytearray(db.serialize("main"))
    finally:
        db.close()
    page[18:20] = b"\x02\x02"  # https://www.sqlite.org/fileformat.html, 1.3.3: write and read version 2, WAL
    return bytes(page)


def _open_to_read(path: Path, options: OpenOptions) -> Opened:
    address = path.absolute().as_uri()
    flags = apsw.SQLITE_OPEN_READONLY | apsw.SQLITE_OPEN_URI
    try:
        return Opened(_connect(f"{address}?mode=ro", flags, options), read_only=True)
    except apsw.Error as error:
        _raise_unless_read_only(path, error)
    # The shared memory of the log is missing and cannot be created: read the file alone, without its log.
    log = path.with_name(path.name + "-wal")
    stale = log.exists() and log.stat().st_size > 0
    return Opened(_connect(f"{address}?immutable=1", flags, options), read_only=True, stale=stale)


def _connect(name: str, flags: int, options: OpenOptions) -> apsw.Connection:
    db = apsw.Connection(name, flags=flags)
    try:
        # No checkpoint on closing until the schema is known to be ours: it would write the log into a foreign file.
        db.config(apsw.SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1)
        db.set_busy_timeout(int(options.busy_wait_s * 1000))
        db.execute("SELECT count(*) FROM sqlite_schema").fetchall()  # opens the log too, so that errors occur here
    except apsw.SQLError as error:  # "unsupported file format" under a header of ours means damage
        db.close()
        raise apsw.CorruptError(str(error)) from error
    except BaseException:
        db.close()
        raise
    return db
