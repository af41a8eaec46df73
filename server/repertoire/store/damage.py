"""Checks databases for damage, and opens damaged ones and backups without changing a byte of them."""

from __future__ import annotations

import contextlib
from pathlib import Path

import apsw

from repertoire.boot.home import backup_path, lost, writable
from repertoire.domain.errors import CorruptStore
from repertoire.store.graph_file import HOME_FILE, GraphFile
from repertoire.store.opening import refuse_newer, schema_in_header
from repertoire.store.user_data import RecoverySource


def damage(path: Path, file: GraphFile = HOME_FILE) -> str:
    """Return what is wrong with a database, also with one that was lost; empty if nothing is.

    Raises:
        StoreError: it belongs to another program, is newer than this version, or cannot be read at all.
    """
    try:
        schema = schema_in_header(path)
        if schema is not None:
            refuse_newer(path, schema, file.newest)
            return trouble(path)
    except CorruptStore:
        return "its header is not what it was"
    return lost(path)


def trouble(path: Path, *, with_log: bool = True) -> str:
    """Return what SQLite's full check finds wrong with a database file; empty if nothing."""
    if not path.is_file() or not path.stat().st_size:
        return "it is empty"  # and SQLite would delete the log beside it
    try:
        db = _reader(path, with_log=with_log)
        try:
            row = db.execute("PRAGMA integrity_check(1)").fetchone()
        finally:
            db.close()
    except (apsw.CantOpenError, apsw.ReadOnlyError) as error:
        if with_log and not writable(path.parent):  # SQLite cannot create its files beside this one, which is no damage
            return trouble(path, with_log=False)
        return str(error)
    except (apsw.NotADBError, apsw.CorruptError, apsw.SQLError, apsw.IOError) as error:
        return str(error)
    found = str(row[0]) if row else ""
    return "" if found == "ok" else found.splitlines()[-1]


def open_damaged(path: Path, file: GraphFile) -> RecoverySource | None:
    """Open a damaged database; None if SQLite cannot.

    A write-ahead log of another database makes a sound file look damaged: then it is ignored.
    """
    if not path.is_file() or not path.stat().st_size:
        return None
    log = path.with_name(path.name + "-wal")
    return _opened(path, file, backup=False, with_log=not log.exists() or bool(trouble(path, with_log=False)))


def open_backup(path: Path, file: GraphFile) -> RecoverySource | None:
    """Open the backup of a database; None if there is none, or it is damaged too."""
    backup = backup_path(path)
    return None if trouble(backup, with_log=False) else _opened(backup, file, backup=True, with_log=False)


def _opened(path: Path, file: GraphFile, *, backup: bool, with_log: bool) -> RecoverySource | None:
    with contextlib.suppress(apsw.Error):
        db = _reader(path, with_log=with_log)
        with contextlib.suppress(apsw.Error):
            db.execute("SELECT count(*) FROM sqlite_schema").fetchall()
            old = RecoverySource(db, backup=backup)
            if 0 < old.schema <= file.newest:
                return old
        db.close()
    return None


def _reader(path: Path, *, with_log: bool) -> apsw.Connection:
    address = f"{path.absolute().as_uri()}?{'mode=ro' if with_log else 'immutable=1'}"
    db = apsw.Connection(address, flags=apsw.SQLITE_OPEN_READONLY | apsw.SQLITE_OPEN_URI)
    db.config(apsw.SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1)
    db.pragma("cell_size_check", 1)
    return db
