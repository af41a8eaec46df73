"""Checks whether the home's disk has room for an ingest, with the standard library alone."""

from __future__ import annotations

import shutil
from pathlib import Path

from repertoire.boot.home import database_path

_LEAST = 64 << 20  # bytes that an ingest may need: a clone, and the database's log of a large transaction
_NONE = 1 << 20  # with fewer free bytes than this, not even a small transaction succeeds
MEND = "free some: nothing that was written is lost"


def lacking(home: Path) -> str:
    """Return a text with the free and the needed space if an ingest needs more; "" if there is enough or it is unknown.

    The needed space includes a second copy of the database, which a repair writes beside it.
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
