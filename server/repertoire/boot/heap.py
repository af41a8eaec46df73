"""Keeps a process's heap small: threads share one, and freed memory goes back to the system."""

from __future__ import annotations

import gc
import sys
from typing import Any

_MMAP_THRESHOLD, _ARENA_MAX = -3, -8  # of glibc's mallopt
# 4 MB: the matrices of a snapshot are larger, what the model computes a text with is not, and would cost a quarter more
# of its time in pages that are fetched anew.
_LARGE = 4 << 20


def share_memory() -> None:
    """Let all threads use one heap, and what is large none; to be told before there are threads.

    glibc gives each thread a heap, which keeps what the thread once needed at most, and in time puts matrices there.
    """
    if (libc := _glibc()) is not None:
        libc.mallopt(_ARENA_MAX, 1)
        libc.mallopt(_MMAP_THRESHOLD, _LARGE)


def return_memory() -> None:
    """Return what was freed; nothing on systems that do it themselves."""
    # glibc keeps freed pages: without this, dropping the model frees 10 MB of the 65 it takes
    if (libc := _glibc()) is not None:
        libc.malloc_trim(0)


def grow() -> None:
    """Look for no garbage while a process starts: what is imported stays, and looking takes a sixth of the start."""
    gc.disable()


def grown() -> None:
    """Look for garbage from now on, but never again among what the start brought."""
    gc.freeze()
    gc.enable()


def _glibc() -> Any:
    import ctypes  # noqa: PLC0415 - what does not ask for it need not load it

    libc = ctypes.CDLL(None) if sys.platform == "linux" else None
    return libc if hasattr(libc, "malloc_trim") else None
