"""Runs the front on this process's pipes, and leaves quickly and with status 0 when it is told to."""

from __future__ import annotations

import os
import signal
import sys
from types import FrameType

from repertoire.boot.front import Front


def main() -> None:
    """Serve the client on standard input and output; never return a failure."""
    front = Front(_write)

    def leave(_signal: int, _frame: FrameType | None) -> None:
        front.stop()
        os._exit(0)

    for name in ("SIGTERM", "SIGINT", "SIGHUP"):
        if hasattr(signal, name):
            signal.signal(getattr(signal, name), leave)
    front.run(sys.stdin.buffer)
    sys.stderr.flush()
    os._exit(0)  # the interpreter's own end would wait for the thread that reads standard input


def _write(line: bytes) -> None:
    view = memoryview(line)
    while view:
        view = view[os.write(1, view) :]
