"""Names what a person may be typing: components and sources, from the store, quickly, and nothing where that fails."""

from __future__ import annotations

import contextlib
import re
import sqlite3
from contextlib import closing

from repertoire.boot import home as homes
from repertoire.boot.errors import BootError
from repertoire.domain.component import COMPONENT

MOST = 50
_WAIT_S = 0.1
_STEPS, _TURNS = 10_000, 200  # SQLite's own: some 20 ms, whatever the size of the file
_LAST = "\U0010ffff"
# A completion is put on the command line as it stands: what a shell would read as more than a word is not offered.
_WORD = re.compile(r"[A-Za-z0-9~/][A-Za-z0-9._/:#@+~-]{0,199}")


def components(start: str) -> list[str]:
    """Return names of components that begin so, or ids, once a colon tells that an id is meant."""
    if ":" in start:
        rule, order = "key >= ? AND key < ?", "key"
    else:
        rule, order = "name COLLATE NOCASE >= ? AND name COLLATE NOCASE < ?", "name"
    sql = f"SELECT DISTINCT {order} FROM node WHERE type = ? AND {rule} ORDER BY {order} LIMIT {2 * MOST}"
    return _words(sql, (COMPONENT, start, start + _LAST))


def sources(start: str) -> list[str]:
    """Return keys of sources that begin so."""
    sql = f"SELECT key FROM source WHERE key >= ? AND key < ? ORDER BY key LIMIT {2 * MOST}"
    return _words(sql, (start, start + _LAST))


def _words(sql: str, bindings: tuple[str, ...]) -> list[str]:
    turns = iter(range(_TURNS))
    with contextlib.suppress(sqlite3.Error, BootError, OSError):
        path = homes.database_path(homes.locate())
        if path.exists():
            with closing(sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True, timeout=_WAIT_S)) as db:
                db.set_progress_handler(lambda: next(turns, None) is None, _STEPS)
                return [word for (word,) in db.execute(sql, bindings) if _WORD.fullmatch(word)][:MOST]
    return []
