"""A file lock that one process at a time holds; the operating system frees it when the process ends."""

from __future__ import annotations

import contextlib
import errno
import os
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

POLL_S = 0.2  # interval of the attempts to take the lock
BUSY = (errno.EACCES, errno.EAGAIN, errno.EDEADLK)  # errors that mean: another process holds the lock


@contextlib.contextmanager
def only_one(path: Path, waiting: Callable[[int], None]) -> Iterator[None]:
    """Hold the lock on a file while the block runs; `waiting` is called with the seconds spent so far on getting it.

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
    """Tell whether certainly no process holds the lock on a file; False on a file system without locks."""
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
