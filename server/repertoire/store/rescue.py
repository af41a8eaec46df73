"""Moves a damaged database out of the way and puts what it still holds in its place; nothing is ever deleted.

In an order that a process may be killed in at any point: the new file is complete under a name of its own before the
old one is moved, and whoever comes next goes on from there.
"""

from __future__ import annotations

import contextlib
import itertools
from collections.abc import Callable, Sequence
from pathlib import Path

from repertoire.boot.home import MENDED, lost
from repertoire.domain.errors import CorruptStore, StoreError
from repertoire.domain.rescue import Rescue
from repertoire.store.graph_file import HOME_FILE, GraphFile
from repertoire.store.opening import refuse_newer, schema_in_header
from repertoire.store.requests import Request
from repertoire.store.salvage import OWN, build, salvage, trouble

_SIDECARS = ("-wal", "-shm", "-journal")


Finish = Callable[[Path, Rescue, Sequence[Request]], Rescue]


def damage(path: Path, file: GraphFile = HOME_FILE) -> str:
    """Return what is wrong with a database, empty where nothing is; of what only its traces tell too.

    Raises:
        StoreError: it is not ours, newer than this version, or cannot be read at all.
    """
    try:
        schema = schema_in_header(path)
        if schema is not None:
            refuse_newer(path, schema, file.newest)
            return trouble(path)
    except CorruptStore:
        return "its header is not what it was"
    return lost(path)


def rescue(path: Path, cause: str, *, now: str, finish: Finish, file: GraphFile = HOME_FILE) -> Rescue:
    """Put a new database in the place of a damaged one, with all of a person's own that can be read.

    `finish` completes the new file before anybody sees it, with the past requests, and the report. One process at a
    time.

    Raises:
        StoreError: there is no room for the new file, or the old one cannot be moved; it is as it was then.
    """
    target = _free(path, now)
    mended = path.with_name(f"{path.name}{MENDED}{target.name.removeprefix(path.name)}")
    making = path.with_name(f"{path.name}.making")
    _discard(making)
    found = salvage(path, file)
    try:
        build(making, found, file)
        brought = {**{name: len(found.rows[name]) for name in OWN}, **found.own.counts()}
        told = finish(making, Rescue(target.name, cause, brought, found.partly, found.missing), found.requests())
    except BaseException:
        _discard(making)
        raise
    making.rename(mended)
    go_on(path)
    return told


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
