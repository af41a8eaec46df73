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

    asked = [getattr(signal, name) for name in ("SIGTERM", "SIGINT", "SIGHUP") if hasattr(signal, name)]

    def leave(_signal: int, _frame: FrameType | None) -> None:
        for number in asked:  # the client sends a second one while the first is being obeyed
            signal.signal(number, signal.SIG_IGN)
        front.stop()
        os._exit(0)

    for number in asked:
        signal.signal(number, leave)
    front.run(sys.stdin.buffer)
    sys.stderr.flush()
    os._exit(0)  # the interpreter's own end would wait for the thread that reads standard input


def _write(line: bytes) -> None:
    view = memoryview(line)
    while view:
        view = view[os.write(1, view) :]
