"""Moves a damaged database out of the way and puts a new one with a person's own in its place; nothing is ever deleted.

In an order that a process may be killed in at any point: the new file is complete under a name of its own before the
old one is moved, and whoever comes next goes on from there.
"""

from __future__ import annotations

import contextlib
import itertools
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from repertoire.boot.home import MENDED
from repertoire.domain.errors import StoreError
from repertoire.domain.rescue import Rescue, minutes_between
from repertoire.store.damage import open_backup, open_damaged
from repertoire.store.graph_file import HOME_FILE, GraphFile
from repertoire.store.own import build

_SIDECARS = ("-wal", "-shm", "-journal")

Finish = Callable[[Path, Rescue], object]


def rescue(path: Path, cause: str, *, now: str, finish: Finish, file: GraphFile = HOME_FILE) -> Rescue:
    """Put a new database in the place of a damaged one: a person's own out of that, else out of the backup.

    `finish` completes the new file before anybody sees it. One process at a time.

    Raises:
        StoreError: there is no room for the new file, or the old one cannot be moved; it is as it was then.
    """
    target = _free(path, now)
    mended = path.with_name(f"{path.name}{MENDED}{target.name.removeprefix(path.name)}")
    making = discard_unfinished(path)
    try:
        told = _made(making, path, Rescue(target.name, cause), now, file)
        finish(making, told)
    except BaseException:
        _discard(making)
        raise
    making.rename(mended)
    go_on(path)
    return told


def _made(making: Path, path: Path, told: Rescue, now: str, file: GraphFile) -> Rescue:
    with contextlib.ExitStack() as opened:
        damaged, backup = open_damaged(path, file), open_backup(path, file)
        for old in filter(None, (damaged, backup)):
            opened.callback(old.close)
        brought = build(making, file, damaged, backup)
        made = backup.made() if backup else ""
    return replace(
        told,
        brought=dict(brought.damaged),
        backed=dict(brought.backup),
        partly=tuple(brought.partly),
        backup=made,
        minutes=minutes_between(made, now) if made else 0,
    )


def go_on(path: Path) -> bool:
    """Finish what a rescue began, where one was interrupted; tell whether one was.

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
    """Return the new databases that wait to take the place of a damaged one."""
    return sorted(path.parent.glob(f"{path.name}{MENDED}*"))


def set_aside(path: Path) -> list[Path]:
    """Return the damaged databases that lie beside this one; what was recorded then still stands in them."""
    found = path.parent.glob(f"{path.name}.damaged-*")
    return sorted(file for file in found if not file.name.endswith(_SIDECARS))


def discard_unfinished(path: Path) -> Path:
    """Delete the half-made new file that a killed rescue left, and return where the next one is made."""
    making = path.with_name(f"{path.name}.making")
    _discard(making)
    return making


def _discard(making: Path) -> None:
    for leftover in (making, *(making.with_name(making.name + sidecar) for sidecar in _SIDECARS)):
        leftover.unlink(missing_ok=True)


def _free(path: Path, now: str) -> Path:
    stamp = "".join(character for character in now if character.isalnum())
    names = (f"{path.name}.damaged-{stamp}" + (f"-{count}" if count else "") for count in itertools.count())
    return next(place for place in map(path.with_name, names) if not place.exists())


def _move(path: Path, target: Path) -> None:
    try:
        for sidecar in _SIDECARS:  # first: a new database must never meet the log of the old one
            beside = path.with_name(path.name + sidecar)
            if beside.exists():
                beside.rename(target.with_name(target.name + sidecar))
        if path.exists():
            path.rename(target)
        else:
            target.touch(0o600)  # its log alone was left: it is known by this name
    except OSError as error:
        message = (
            f"{path} is damaged and could not be moved to {target} ({error.strerror}); end the sessions that use it "
            "and run the same command again"
        )
        raise StoreError(message) from error
    with contextlib.suppress(OSError):
        target.chmod(0o600)
