"""Bounds the processor time that one piece of work may take: what takes longer is broken off and says so."""

from __future__ import annotations

import contextlib
import signal
import threading
import time
from collections.abc import Iterator
from types import FrameType

from repertoire.domain.errors import TooSlow

_AGAIN_S = 1.0  # where the exception was caught by the work itself, it comes again


@contextlib.contextmanager
def at_most(seconds: float) -> Iterator[None]:
    """Break off what runs inside once it has taken so much processor time; a busy machine breaks nothing off.

    Where the system has no such timer (Windows, a thread beside the main one) it is told afterwards.

    Raises:
        TooSlow: it took longer.
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
