"""Reads names that begin so, quickly, and none where that fails: for completion on a command line."""

from __future__ import annotations

import contextlib
import sqlite3
from contextlib import closing
from pathlib import Path

from repertoire.domain.component import COMPONENT

_WAIT_S = 0.1
_STEPS, _TURNS = 10_000, 200  # SQLite's own: some 20 ms, whatever the size of the file
_LAST = "\U0010ffff"


def component_names(path: Path, start: str, *, limit: int) -> list[str]:
    """Return the names of components that begin with a text; their ids, if the text has a colon."""
    if ":" in start:
        rule, order = "key >= ? AND key < ?", "key"
    else:
        rule, order = "name COLLATE NOCASE >= ? AND name COLLATE NOCASE < ?", "name"
    sql = f"SELECT DISTINCT {order} FROM node WHERE type = ? AND {rule} ORDER BY {order} LIMIT {limit}"
    return _read(path, sql, (COMPONENT, start, start + _LAST))


def source_keys(path: Path, start: str, *, limit: int) -> list[str]:
    """Return the keys of sources that begin with a text."""
    sql = f"SELECT key FROM source WHERE key >= ? AND key < ? ORDER BY key LIMIT {limit}"
    return _read(path, sql, (start, start + _LAST))


def _read(path: Path, sql: str, bindings: tuple[str, ...]) -> list[str]:
    turns = iter(range(_TURNS))
    with contextlib.suppress(sqlite3.Error, OSError):
        if path.exists():
            with closing(sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True, timeout=_WAIT_S)) as db:
                db.set_progress_handler(lambda: next(turns, None) is None, _STEPS)
                return [word for (word,) in db.execute(sql, bindings)]
    return []
