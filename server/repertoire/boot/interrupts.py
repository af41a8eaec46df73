"""Ends a process that is interrupted while it still reads its modules: with status 130, and without a traceback."""

from __future__ import annotations

import os

# What `signal` reads would be interrupted itself.
from _signal import SIGINT, default_int_handler, getsignal, signal  # type: ignore[import-not-found]

INTERRUPTED = 130


def leave_on_interrupt() -> None:
    """Let an interrupt end the process at once, unless it is ignored: nothing has begun that must be ended first."""
    if getsignal(SIGINT) is default_int_handler:
        signal(SIGINT, _leave)


def raise_on_interrupt() -> None:
    """Let an interrupt raise KeyboardInterrupt again, from where on somebody catches it."""
    if getsignal(SIGINT) is _leave:
        signal(SIGINT, default_int_handler)


def _leave(_number: int, _frame: object) -> None:
    os.write(2, b"interrupted\n")
    os._exit(INTERRUPTED)
