"""Lends temporary folders for fetching and unpacking; those of killed processes are deleted at the next request."""

from __future__ import annotations

import contextlib
import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

from repertoire.boot.filelock import is_free, only_one

PLACE = ".scratch"  # folder beside the clones, on the same disk, so that a finished folder can be renamed into place
_LOCK = ".lock"


@contextlib.contextmanager
def scratch(beside: Path) -> Iterator[Path]:
    """Lend a new temporary folder beside a path while the block runs.

    Its owner holds a lock that the operating system frees with the process, so only folders of dead processes are
    deleted. A process id could not tell that, because another process may have the same id by now.

    Raises:
        OSError: the folder cannot be created.
    """
    place = beside.parent / PLACE
    # `parents` alone would let others into the folder of all clones or packs, where the home was made open to them
    beside.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    place.mkdir(exist_ok=True, mode=0o700)
    with contextlib.ExitStack() as owned:
        with only_one(place / _LOCK, lambda _seconds: None):  # no other process deletes the folder before it is locked
            _sweep(place)
            folder = Path(tempfile.mkdtemp(dir=place))
            lock = folder.with_suffix(_LOCK)
            owned.callback(lock.unlink, missing_ok=True)
            owned.enter_context(only_one(lock, lambda _seconds: None))
        owned.callback(remove, folder)
        yield folder


def sweep(beside: Path) -> None:
    """Delete the temporary folders that dead processes left beside a path."""
    place = beside.parent / PLACE
    if place.is_dir():
        with contextlib.suppress(OSError), only_one(place / _LOCK, lambda _seconds: None):
            _sweep(place)


def remove(folder: Path) -> None:
    """Delete a folder and its content as far as possible; no error is raised, and a link stays with what it leads to.

    Git makes its packs read-only, and Windows does not delete read-only files.
    """
    if folder.is_symlink():
        return
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
