"""Runs the proxy on this process's pipes; a signal to stop ends it quickly, with status 0."""

from __future__ import annotations

import os
import signal
import sys
import threading
from types import FrameType

from repertoire.boot.proxy import ServerProxy


def main() -> None:
    """Serve the client on standard input and output, and exit with status 0."""
    proxy = ServerProxy(_write)
    _leave_when_told(proxy)
    proxy.run(sys.stdin.buffer)
    sys.stderr.flush()
    os._exit(0)  # the interpreter's own end would wait for the thread that reads standard input


def _leave_when_told(proxy: ServerProxy) -> None:
    # A handler of Python's runs in the main thread, between two of its steps: a signal that comes just before that
    # thread begins to wait would be obeyed at its next message, which may never come. The descriptor is written to
    # the moment a signal arrives, and another thread waits for that.
    wake, signalled = os.pipe()
    if sys.platform != "win32":
        os.set_blocking(signalled, False)
    signal.set_wakeup_fd(signalled, warn_on_full_buffer=False)
    for name in ("SIGTERM", "SIGINT", "SIGHUP"):
        if hasattr(signal, name):
            signal.signal(getattr(signal, name), _noted)

    def leave() -> None:
        os.read(wake, 1)
        proxy.stop()
        os._exit(0)

    threading.Thread(target=leave, daemon=True).start()


def _noted(_signal: int, _frame: FrameType | None) -> None:
    """Do nothing: the signal wakes another thread, which ends the server and the process."""


def _write(line: bytes) -> None:
    view = memoryview(line)
    while view:
        view = view[os.write(1, view) :]
