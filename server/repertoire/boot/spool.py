"""The spool: files beside the database with events that a lock kept out of the log."""

from __future__ import annotations

import json
import os
import time
import uuid
from collections.abc import Mapping, Sequence
from pathlib import Path

FOLDER = "unwritten"
HEARD = "heard"  # the kind of a row that tells of a use nobody has looked up yet: by which tool, of what name


def put_off(home: Path, rows: Sequence[Mapping[str, object]]) -> Path:
    """Keep rows of the log in a file of their own, whole or not at all, for whoever can write them; return it.

    Raises: OSError when it cannot be kept.
    """
    folder = home / FOLDER
    folder.mkdir(mode=0o700, exist_ok=True)
    name = f"{time.time_ns():020}-{uuid.uuid4().hex}.json"
    part = folder / f".{name}"
    # What a prompt said may be in it: at no time readable by others.
    with os.fdopen(os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w", encoding="utf-8") as file:
        json.dump([dict(row) for row in rows], file)
    part.replace(folder / name)
    return folder / name


def waiting(home: Path) -> Sequence[Path]:
    """Return the files that wait, the oldest first."""
    folder = home / FOLDER
    return sorted(folder.glob("[0-9]*.json")) if folder.is_dir() else ()
