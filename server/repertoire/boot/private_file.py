"""Writes JSON files atomically, at no time readable by other users, and sets the modes of files."""

from __future__ import annotations

import contextlib
import json
import os
import sys
from pathlib import Path


def write_json(path: Path, value: object, *, flush: bool = False) -> None:
    """Write a value as JSON: a reader finds the old file or the new one; `flush` waits until it is on the disk.

    Raises: OSError when it cannot be written.
    """
    part = path.with_name(f".{path.name}.{os.urandom(8).hex()}")
    try:
        with os.fdopen(os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w", encoding="utf-8") as file:
            json.dump(value, file)
            if flush:
                file.flush()
                os.fsync(file.fileno())
        part.replace(path)
    except BaseException:
        part.unlink(missing_ok=True)  # it may hold a prompt or a key, and nothing else would ever delete it
        raise


def set_mode(path: Path, mode: int) -> None:
    """Set the mode of a file of this user's, where its file system has modes."""
    if sys.platform != "win32":  # there a file that is read-only can be neither replaced nor removed
        with contextlib.suppress(PermissionError):  # FAT, and some network folders, keep none
            path.chmod(mode)
