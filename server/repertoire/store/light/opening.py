"""Opens a graph file to read with the standard library alone, for the session hook."""

from __future__ import annotations

import sqlite3
from pathlib import Path

from repertoire.domain.database_file import APPLICATION_ID

_READ_SECONDS = 0.3


def open_to_read(path: Path, *, known_schema: int) -> sqlite3.Connection:
    """Open a graph file whose schema is known here.

    Raises:
        sqlite3.Error: it is locked, damaged, newer or not ours.
    """
    db = sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True, timeout=_READ_SECONDS)
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
