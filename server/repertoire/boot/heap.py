"""Keeps a process's heap small: its threads share one heap, and freed memory goes back to the system."""

from __future__ import annotations

import gc
import sys
from typing import Any

_MMAP_THRESHOLD, _ARENA_MAX = -3, -8  # parameters of glibc's mallopt
# 4 MB: a snapshot's matrices are larger and get pages of their own. The model's buffers are smaller; with pages of
# their own, which are fetched anew each time, it would take a quarter longer.
_LARGE = 4 << 20


def share_memory() -> None:
    """Make all threads use one heap, and give large blocks pages of their own; call it before threads start.

    Otherwise glibc gives each thread a heap that never shrinks, and in time puts matrices there.
    """
    if (libc := _glibc()) is not None:
        libc.mallopt(_ARENA_MAX, 1)
        libc.mallopt(_MMAP_THRESHOLD, _LARGE)


def return_memory() -> None:
    """Give freed memory back to the system; do nothing on systems that do so themselves."""
    # glibc keeps freed pages: without this, dropping the model frees 10 MB of the 65 it takes
    if (libc := _glibc()) is not None:
        libc.malloc_trim(0)


def pause_collector() -> None:
    """Turn the garbage collector off while a process starts: imports leave none, and it takes 1/6 of the start."""
    gc.disable()


def resume_collector() -> None:
    """Turn the garbage collector on again, and exclude all objects that exist now."""
    gc.freeze()
    gc.enable()


def _glibc() -> Any:
    import ctypes  # noqa: PLC0415 - most processes do not need it

    libc = ctypes.CDLL(None) if sys.platform == "linux" else None
    return libc if hasattr(libc, "malloc_trim") else None
