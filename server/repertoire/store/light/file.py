"""Tells what lies at the database's place, in the words of every other door, with the standard library alone."""

from __future__ import annotations

import os
import sqlite3
from pathlib import Path

from repertoire.boot.home import lost, writable
from repertoire.domain import database_file as known
from repertoire.domain.health import FAIL, WARN, Finding
from repertoire.domain.health import finding_of as told
from repertoire.store.light.opening import is_busy

SqliteError = sqlite3.Error  # what reading raises where SQLite cannot
_WAIT_S = 5.0
_MISASKED = ("no such", "syntax error", "ambiguous", "too many", "wrong number", "misuse")  # SQLite's, of our SQL
_HEADER_LIES = "unsupported file format"  # SQLite's word where the header is ours and not the truth
_MAY_WRITE = "correct the owner and mode of the file and its folder, or set REPERTOIRE_HOME to a folder that can"


def judged(path: Path) -> Finding | None:
    """Return the finding on a database's path that SQLite must not open; None if it may be opened."""
    if path.is_symlink() and not path.exists():
        return told("database", FAIL, known.dangling_text(path))
    if not path.exists() or (path.is_file() and not path.stat().st_size):
        return _absent(path)
    wrong = _wrong(path) if path.is_file() else known.foreign_text(path)
    return told("database", FAIL, wrong) if wrong else None


def _absent(path: Path) -> Finding:
    cause = lost(path)
    if cause:
        return told("database", FAIL, known.damaged_text(path, cause))
    if path.parent.is_dir() and not writable(path.parent):
        return told("database", FAIL, known.unmakeable_text(path, "Permission denied"))
    return Finding("database", WARN, f"{path} is not there yet", "run `repertoire refresh`, which makes it")


def _wrong(path: Path) -> str:
    """Return what is wrong with the first bytes of a file; empty if nothing is."""
    try:
        with path.open("rb") as file:
            header = file.read(known.HEADER)
            whole, named = known.is_sqlite(header), known.bears_our_number(header)
            ours = named or known.bears_our_mark(header + file.read(known.SEARCHED))
    except OSError as error:
        return known.unreadable_text(path, error.strerror)
    if not ours:
        return known.foreign_text(path)
    return "" if whole and named else known.damaged_text(path, "its header")


def opened(path: Path) -> sqlite3.Connection:
    """Open a database for reading; without its write-ahead log if SQLite may not write beside it.

    Raises:
        sqlite3.Error: it is locked, damaged, or cannot be opened at all.
    """
    address = path.absolute().as_uri()
    try:
        return _tried(f"{address}?mode=ro")
    except sqlite3.OperationalError as error:
        if is_busy(error) or _HEADER_LIES in str(error):
            raise
    return _tried(f"{address}?immutable=1")


def is_damage(error: sqlite3.Error) -> bool:
    """Tell whether SQLite calls a file damaged, or no database: the subclasses of that error say other things."""
    return type(error) is sqlite3.DatabaseError or _HEADER_LIES in str(error)


def refused(path: Path, error: sqlite3.Error) -> Finding:
    """Return the finding for an SQLite error: the database is busy, damaged, wrongly asked, or cannot be read."""
    if is_busy(error):
        mend = "try again when the process that writes to it has ended"
        return Finding("database", WARN, f"{path} cannot be read ({error})", mend)
    if is_damage(error):
        return told("database", FAIL, known.damaged_text(path, error))
    if isinstance(error, sqlite3.OperationalError) and not any(word in str(error) for word in _MISASKED):
        return told("database", FAIL, known.unreadable_text(path, error))
    return told("database", FAIL, known.misasked_text(path, error))


def unwritable(path: Path, sound: Finding) -> Finding:
    """Return the finding `sound` if the database can be written from here, else a finding that it cannot."""
    if os.access(path, os.W_OK) and writable(path.parent):
        return sound
    return Finding("database", FAIL, f"{sound.text}; it is sound, and cannot be written: nothing is kept", _MAY_WRITE)


def _tried(address: str) -> sqlite3.Connection:
    db = sqlite3.connect(address, uri=True, timeout=_WAIT_S)
    try:
        db.execute("SELECT count(*) FROM sqlite_master").fetchone()
    except BaseException:
        db.close()
        raise
    return db
