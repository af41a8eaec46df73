"""Lets one process at a time through, and the next one when that process ends in whatever way."""

from __future__ import annotations

import contextlib
import errno
import os
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

POLL_S = 0.2
BUSY = (errno.EACCES, errno.EAGAIN, errno.EDEADLK)


@contextlib.contextmanager
def only_one(path: Path, waiting: Callable[[int], None]) -> Iterator[None]:
    """Hold the lock on the file while the block runs; tell `waiting` the seconds spent on getting it.

    The operating system drops the lock of a process that was killed. Raises: OSError when the file cannot be opened.
    """
    handle = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
    try:
        started = time.monotonic()
        while not _take(handle):
            waiting(int(time.monotonic() - started))
            time.sleep(POLL_S)
        yield
    finally:
        os.close(handle)


def is_free(path: Path) -> bool:
    """Tell whether surely nobody holds the lock on a file; where the file system has no locks, nobody can tell."""
    handle = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
    try:
        _lock(handle)
    except OSError:
        return False
    else:
        return True
    finally:
        os.close(handle)


def _take(handle: int) -> bool:
    try:
        _lock(handle)
    except OSError as error:
        # A file system without locks (some network homes): go on. Each build has a folder of its own, so the
        # worst that two builders do to each other is the same work twice.
        return error.errno not in BUSY
    return True


if sys.platform == "win32":
    import msvcrt

    def _lock(handle: int) -> None:
        msvcrt.locking(handle, msvcrt.LK_NBLCK, 1)

else:
    import fcntl

    def _lock(handle: int) -> None:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
