"""Opens a graph file to read with the standard library alone, for the session hook."""

from __future__ import annotations

import sqlite3
from pathlib import Path

from repertoire.boot.home import writable
from repertoire.domain.database_file import APPLICATION_ID

_READ_SECONDS = 0.3


def open_to_read(path: Path, *, known_schema: int) -> sqlite3.Connection:
    """Open a graph file whose schema is known here.

    Raises:
        sqlite3.Error: it is locked, damaged, newer or not ours.
    """
    address = path.absolute().as_uri()
    try:
        return _tried(f"{address}?mode=ro", path, known_schema)
    except sqlite3.OperationalError as error:
        if writable(path.parent) or is_busy(error):
            raise
    # the shared memory of the log is missing and cannot be created: read the file alone, as the store does
    return _tried(f"{address}?immutable=1", path, known_schema)


def is_busy(error: sqlite3.Error) -> bool:
    """Tell whether another process holds the file."""
    return any(word in str(error) for word in ("locked", "busy"))


def _tried(address: str, path: Path, known_schema: int) -> sqlite3.Connection:
    db = sqlite3.connect(address, uri=True, timeout=_READ_SECONDS)
    try:
        known = _is_known(db, known_schema)
    except BaseException:
        db.close()
        raise
    if known:
        return db
    db.close()
    message = f"{path} is not a database that this version knows"
    raise sqlite3.DatabaseError(message)


def _is_known(db: sqlite3.Connection, known_schema: int) -> bool:
    application, schema = (db.execute(f"PRAGMA {name}").fetchone()[0] for name in ("application_id", "user_version"))
    return bool(application == APPLICATION_ID and schema <= known_schema)
