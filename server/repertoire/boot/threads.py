"""Keeps numpy's matrix products on one thread; to be told before numpy is imported."""

from __future__ import annotations

import os

_VARIABLES = ("OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "VECLIB_MAXIMUM_THREADS")


def one_thread() -> None:
    """Let products run where they are asked for, unless the environment says otherwise.

    Ours take a few milliseconds; on a busy machine the threads of one wait up to 20 ms for each other.
    """
    for name in _VARIABLES:
        os.environ.setdefault(name, "1")
