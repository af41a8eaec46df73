"""Keeps numpy's matrix products on one thread; it must be called before numpy is imported."""

from __future__ import annotations

import os

_VARIABLES = ("OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "VECLIB_MAXIMUM_THREADS")


def one_thread() -> None:
    """Set numpy's libraries to one thread, unless environment variables say otherwise.

    Our products take a few milliseconds; on a busy machine the threads of one wait up to 20 ms for each other.
    """
    for name in _VARIABLES:
        os.environ.setdefault(name, "1")
