"""Stores one file for each session with failing commands, until the session ends or its data is deleted."""

from __future__ import annotations

import contextlib
import hashlib
import json
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from repertoire.boot.private_file import write_json
from repertoire.boot.spool import FOLDER

MOST = 16  # sessions; those that were written longest ago are deleted
_DAYS = 7.0  # after which a session's file is deleted
_DAY = 86_400.0


def file_of(home: Path, session: str) -> Path:
    """Return the path of a session's file."""
    name = hashlib.sha256(session.encode("utf-8", "replace")).hexdigest()[:32]
    return home / FOLDER / f"session-{name}.json"


def write(home: Path, session: str, held: Mapping[str, object]) -> int:
    """Write a session's file atomically, and delete the oldest files of other sessions; return the file's version.

    Raises: OSError when it cannot be kept.
    """
    path = file_of(home, session)
    path.parent.mkdir(mode=0o700, exist_ok=True)
    write_json(path, {**held, "session": session})  # what a command printed is in it
    remove_old(home)
    return version(home, session)


def version(home: Path, session: str) -> int:
    """Return a number that changes whenever a session's file is written; 0 where there is none."""
    try:
        return file_of(home, session).stat().st_mtime_ns
    except OSError:
        return 0


def read(home: Path, session: str) -> Mapping[str, Any]:
    """Return the content of a session's file; empty if there is none or it is damaged."""
    return _read(file_of(home, session))


def remove(home: Path, session: str) -> None:
    """Delete a session's file."""
    file_of(home, session).unlink(missing_ok=True)


def remove_all(home: Path, *, project: str = "") -> None:
    """Delete the files of all sessions, or of those in one project."""
    for path in _files(home):
        if not project or _read(path).get("project") == project:
            path.unlink(missing_ok=True)


def remove_old(home: Path) -> None:
    """Delete the files of the oldest sessions beyond `MOST`, and those older than a week, or as far in the future.

    A file from the future was written before the clock was put back.
    """
    dated = []
    for path in _files(home):
        with contextlib.suppress(OSError):  # another process deleted it
            dated.append((path.stat().st_mtime, path))
    dated.sort(reverse=True)
    for place, (written, path) in enumerate(dated):
        if place >= MOST or abs(time.time() - written) > _DAYS * _DAY:
            path.unlink(missing_ok=True)


def _files(home: Path) -> Sequence[Path]:
    return list((home / FOLDER).glob("session-*.json"))


def _read(path: Path) -> Mapping[str, Any]:
    try:
        held = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        return {}
    return held if isinstance(held, dict) else {}
