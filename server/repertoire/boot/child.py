"""The real server as a child process: each line that it writes is an event, and writing to it never blocks."""

from __future__ import annotations

import contextlib
import queue
import subprocess
import threading
from collections.abc import Callable

GRACE_S = 0.35  # time for the server to end; the client kills us half a second after its request to stop


class Child:
    """A server process; `heard` is called from another thread with each line it writes, and with None at its end."""

    def __init__(self, command: list[str], heard: Callable[[Child, bytes | None], None]) -> None:
        self._process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self._heard = heard
        self._outbox: queue.SimpleQueue[bytes | None] = queue.SimpleQueue()
        threading.Thread(target=self._read, daemon=True).start()
        # A server that hangs stops reading; were its pipe written to from the main thread, end of input and the
        # client's signals would find that thread stuck.
        threading.Thread(target=self._write, daemon=True).start()

    def send(self, line: bytes) -> None:
        """Queue a line for the server's input."""
        self._outbox.put(line)

    def close_input(self) -> None:
        """Close the server's input after all queued lines."""
        self._outbox.put(None)

    def stop(self) -> int:
        """Stop the process, by force if it does not end in time, and return its exit status."""
        if self._process.poll() is None:
            self._process.terminate()
            try:
                return self._process.wait(timeout=GRACE_S)
            except subprocess.TimeoutExpired:
                self._process.kill()
        return self._process.wait()

    def _read(self) -> None:
        if self._process.stdout is not None:
            for line in self._process.stdout:
                self._heard(self, line)
        self._heard(self, None)

    def _write(self) -> None:
        pipe = self._process.stdin
        with contextlib.suppress(OSError):  # a server that has gone is noticed by the reader
            while pipe is not None:
                line = self._outbox.get()
                if line is None:
                    break
                pipe.write(line)
                pipe.flush()
        if pipe is not None:
            with contextlib.suppress(OSError):
                pipe.close()
