"""The spool: the one way of hook events into the log. They lie in files beside the database until a writer moves them.

Nobody waits for a lock to append, and what is acknowledged is on the disk, whoever is killed.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from repertoire.boot.private_file import write_json

FOLDER = "unwritten"
HEARD = "heard"  # the kind of a row that tells of a use nobody has looked up yet: by which tool, of what name
_newest = [0]  # the number of this process's last file: its files stay in order even if the clock is set back


def put_off(home: Path, rows: Sequence[Mapping[str, object]]) -> Path:
    """Append rows to the spool in a file of their own, whole or not at all; return it.

    Raises: OSError when it cannot be kept.
    """
    folder = home / FOLDER
    folder.mkdir(mode=0o700, exist_ok=True)
    _newest[0] = max(time.time_ns(), _newest[0] + 1)
    path = folder / f"{_newest[0]:020}-{os.urandom(16).hex()}.json"
    write_json(path, [dict(row) for row in rows])  # what a prompt said may be in it
    return path


def waiting(home: Path) -> Sequence[Path]:
    """Return the files that wait, the oldest first."""
    folder = home / FOLDER
    return sorted(folder.glob("[0-9]*.json")) if folder.is_dir() else ()


def rows_of(file: Path) -> Sequence[Mapping[str, Any]]:
    """Return the rows of a file that waits; none where a writer moved them meanwhile, or it is no spool file."""
    try:
        rows = json.loads(file.read_text(encoding="utf-8"))
    except (FileNotFoundError, ValueError):
        return ()
    return [row for row in rows if isinstance(row, dict)] if isinstance(rows, list) else ()
