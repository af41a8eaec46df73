"""Counts the usable cores, and keeps numpy's matrix products on one thread, before numpy is imported."""

from __future__ import annotations

import os

_VARIABLES = ("OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "VECLIB_MAXIMUM_THREADS")


def one_thread() -> None:
    """Set numpy's libraries to one thread, unless environment variables say otherwise.

    Our products take a few milliseconds; on a busy machine the threads of one wait up to 20 ms for each other.
    """
    for name in _VARIABLES:
        os.environ.setdefault(name, "1")


def usable_cores() -> int:
    """Return how many cores this process may use; a container or a batch system gives it fewer than there are."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
