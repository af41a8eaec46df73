"""Lends folders for what is fetched or unpacked; one whose process was killed goes when the next is asked for."""

from __future__ import annotations

import contextlib
import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

from repertoire.boot.filelock import is_free, only_one

PLACE = ".scratch"  # beside the clones, so that what is whole can be moved to its place
_LOCK = ".lock"


@contextlib.contextmanager
def scratch(beside: Path) -> Iterator[Path]:
    """Lend a new folder beside a place for as long as the block runs.

    Its owner holds a lock that the operating system drops with the process, so that a folder is only ever taken from
    the dead: by the number of a process that could not be told, as another may bear it by now.

    Raises:
        OSError: there is no room for it.
    """
    place = beside.parent / PLACE
    place.mkdir(parents=True, exist_ok=True, mode=0o700)
    with contextlib.ExitStack() as owned:
        with only_one(place / _LOCK, lambda _seconds: None):  # a folder that is not locked yet is nobody's prey
            _sweep(place)
            folder = Path(tempfile.mkdtemp(dir=place))
            lock = folder.with_suffix(_LOCK)
            owned.callback(lock.unlink, missing_ok=True)
            owned.enter_context(only_one(lock, lambda _seconds: None))
        owned.callback(remove, folder)
        yield folder


def sweep(beside: Path) -> None:
    """Delete what processes left there that are no more."""
    place = beside.parent / PLACE
    if place.is_dir():
        with contextlib.suppress(OSError), only_one(place / _LOCK, lambda _seconds: None):
            _sweep(place)


def remove(folder: Path) -> None:
    """Delete a folder with all that is in it, as far as that can be done.

    Git protects what it packs from being written, and where it does, Windows deletes nothing.
    """
    shutil.rmtree(folder, ignore_errors=True)
    if not folder.exists():
        return
    for place, _, names in os.walk(folder):
        for path in (place, *(os.path.join(place, name) for name in names)):  # noqa: PTH118 - Path costs more than chmod
            with contextlib.suppress(OSError):
                if not os.path.islink(path):  # noqa: PTH114
                    os.chmod(path, 0o700)  # noqa: PTH101
    shutil.rmtree(folder, ignore_errors=True)


def _sweep(place: Path) -> None:
    for folder in place.iterdir():
        lock = folder.with_suffix(_LOCK)
        if folder.is_dir() and is_free(lock):
            remove(folder)
            lock.unlink(missing_ok=True)
