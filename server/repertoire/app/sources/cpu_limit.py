"""Limits the processor time of a block of code: a block that takes longer is interrupted with TooSlow."""

from __future__ import annotations

import contextlib
import signal
import threading
import time
from collections.abc import Iterator
from types import FrameType

from repertoire.domain.errors import TooSlow

_AGAIN_S = 1.0  # the exception is raised again after this time, in case the block caught it


@contextlib.contextmanager
def cpu_limit(seconds: float) -> Iterator[None]:
    """Interrupt the block once it has used so many seconds of processor time; waiting on a busy machine does not count.

    Without a timer (on Windows, outside the main thread) the block runs to its end before the exception is raised.

    Raises:
        TooSlow: the block took longer.
    """
    started = time.process_time()
    if hasattr(signal, "SIGPROF") and threading.current_thread() is threading.main_thread():
        before = signal.signal(signal.SIGPROF, _break_off)
        signal.setitimer(signal.ITIMER_PROF, seconds, _AGAIN_S)
        try:
            yield
        finally:
            signal.setitimer(signal.ITIMER_PROF, 0.0)
            signal.signal(signal.SIGPROF, before)
    else:
        yield
        if time.process_time() - started > seconds:
            raise TooSlow


def _break_off(_: int, __: FrameType | None) -> None:
    raise TooSlow
