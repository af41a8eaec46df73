"""Replaces a damaged database by a new one with the user data; the damaged file is kept beside it.

A process may be killed at any point: the new file is complete under a temporary name before the old one is moved, and
the next process continues from there.
"""

from __future__ import annotations

import contextlib
import itertools
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from repertoire.boot.home import MENDED
from repertoire.domain.database_file import SIDECARS
from repertoire.domain.errors import StoreError
from repertoire.domain.rescue import Rescue, minutes_between
from repertoire.store.damage import open_backup, open_damaged
from repertoire.store.graph_file import HOME_FILE, GraphFile
from repertoire.store.user_data import recover

Finish = Callable[[Path, Rescue], object]


def rescue(path: Path, cause: str, *, now: str, finish: Finish, file: GraphFile = HOME_FILE) -> Rescue:
    """Replace a damaged database by a new one with the user data of the damaged file, else of the backup.

    `finish` completes the new file before other processes see it. The caller holds a lock.

    Raises:
        StoreError: the new file does not fit on the disk, or the old one cannot be moved; nothing has changed then.
    """
    target = _free(path, now)
    mended = path.with_name(f"{path.name}{MENDED}{target.name.removeprefix(path.name)}")
    making = discard_unfinished(path)
    try:
        rescued = _recovered(making, path, Rescue(target.name, cause), now, file)
        finish(making, rescued)
    except BaseException:
        _discard(making)
        raise
    making.rename(mended)
    resume(path)
    return rescued


def _recovered(making: Path, path: Path, rescued: Rescue, now: str, file: GraphFile) -> Rescue:
    with contextlib.ExitStack() as opened:
        damaged, backup = open_damaged(path, file), open_backup(path, file)
        for old in filter(None, (damaged, backup)):
            opened.callback(old.close)
        counts = recover(making, file, damaged, backup)
        made = backup.made_at() if backup else ""
    return replace(
        rescued,
        from_damaged=dict(counts.damaged),
        from_backup=dict(counts.backup),
        incomplete=tuple(counts.incomplete),
        backup=made,
        minutes=minutes_between(made, now) if made else 0,
    )


def resume(path: Path) -> bool:
    """Finish an interrupted rescue; tell whether there was one.

    Raises:
        StoreError: a file cannot be moved.
    """
    begun = unfinished(path)
    for mended in begun:
        target = path.with_name(path.name + mended.name.removeprefix(path.name + MENDED))
        if not target.exists():
            _move(path, target)
        if not path.exists():
            mended.rename(path)
    return bool(begun)


def unfinished(path: Path) -> list[Path]:
    """Return the complete new databases that were not yet moved into the place of the damaged one."""
    return sorted(path.parent.glob(f"{path.name}{MENDED}*"))


def set_aside(path: Path) -> list[Path]:
    """Return the damaged databases that rescues kept beside this one; they still hold old data."""
    found = path.parent.glob(f"{path.name}.damaged-*")
    return sorted(file for file in found if not file.name.endswith(SIDECARS))


def discard_unfinished(path: Path) -> Path:
    """Delete the incomplete new file of a killed rescue, and return the path for the next one."""
    making = path.with_name(f"{path.name}.making")
    _discard(making)
    return making


def _discard(making: Path) -> None:
    for leftover in (making, *(making.with_name(making.name + sidecar) for sidecar in SIDECARS)):
        leftover.unlink(missing_ok=True)


def _free(path: Path, now: str) -> Path:
    stamp = "".join(character for character in now if character.isalnum())
    names = (f"{path.name}.damaged-{stamp}" + (f"-{count}" if count else "") for count in itertools.count())
    return next(place for place in map(path.with_name, names) if not place.exists())


def _move(path: Path, target: Path) -> None:
    try:
        for sidecar in SIDECARS:  # first: a new database must never be opened with the log of the old one
            beside = path.with_name(path.name + sidecar)
            if beside.exists():
                beside.rename(target.with_name(target.name + sidecar))
        if path.exists():
            path.rename(target)
        else:
            target.touch(0o600)  # only its log was left, which is kept under this name
    except OSError as error:
        message = (
            f"{path} is damaged and could not be moved to {target} ({error.strerror}); end the sessions that use it "
            "and run the same command again"
        )
        raise StoreError(message) from error
    with contextlib.suppress(OSError):
        target.chmod(0o600)
