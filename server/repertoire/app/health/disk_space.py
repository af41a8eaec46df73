"""Tells whether the disk that the home lies on has room for what an ingest writes; the standard library alone."""

from __future__ import annotations

import shutil
from pathlib import Path

from repertoire.boot.home import database_path

_LEAST = 64 << 20  # bytes: the log of a large ingest before it is emptied, and a clone
_NONE = 1 << 20  # bytes: less than a transaction and its log
MEND = "free some: nothing that was written is lost"


def lacking(home: Path) -> str:
    """Say how little room is left where an ingest would need more, empty where there is enough or nobody can tell.

    The database may be written once more beside itself, when it is mended.
    """
    try:
        free = shutil.disk_usage(home).free
        path = database_path(home)
        needed = _LEAST + (path.stat().st_size if path.is_file() else 0)
    except OSError:
        return ""
    if free >= needed:
        return ""
    left = "no space is left" if free < _NONE else f"only {free / 1e6:.0f} MB are left"
    return f"{left} on the disk of {home}, an ingest may need {needed / 1e6:.0f} MB"
