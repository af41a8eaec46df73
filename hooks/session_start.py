#!/usr/bin/env python3
"""Tells a new session which few components fit its project; prints hook JSON or nothing, and never fails.

Standard library only, Python 3.9 and later: nothing may be installed yet. A deadline ends it even if something hangs,
because every session waits for it. A thread could not keep this deadline: while a regular expression matches, no other
thread gets the interpreter's lock. So a child process reads the project, under an alarm with which the system ends it.
This process never reads the project: it prints the child's output, and records it if the child could not.
"""

from __future__ import annotations

import contextlib
import faulthandler
import json
import os
import select
import signal
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

if TYPE_CHECKING:
    from repertoire.app.session.greet import SessionStart
    from repertoire.app.session.greeting import Greeting

DEADLINE_SECONDS = 1.0
GRACE_SECONDS = 0.2  # added to the deadline, for the alarm to end the child
EVENT = "SessionStart"
SERVER = str(Path(__file__).resolve().parent.parent / "server")
_STDOUT, _STDERR = 1, 2
_NOTED = b"noted"


def main() -> None:
    """Print the hint within the deadline; exit with status 0 in any case."""
    with contextlib.suppress(Exception):  # no store yet, a locked or newer one, an odd project: the session goes on
        if hasattr(os, "fork"):
            _watch()
        else:
            _alone()
    os._exit(0)


def _watch() -> None:
    """Print the output of a child process, and record its hint if the child ended before it could."""
    heard, tell = os.pipe()
    go, say = os.pipe()
    child = os.fork()
    if not child:
        os.close(heard)
        os.close(say)
        _work(tell, go)
    os.close(tell)
    os.close(go)
    told = _ChildOutput(heard, time.monotonic() + DEADLINE_SECONDS + GRACE_SECONDS)
    output, _, owed = told.line().partition(b"\t")
    if owed:
        _write(output, told.until)
        with contextlib.suppress(OSError):  # the child has ended already
            os.write(say, b"\n")
        if told.rest() != _NOTED:
            _leave_note(owed)
    if told.ended:  # else the system itself holds it, and would hold us
        os.waitpid(child, 0)


def _work(tell: int, go: int) -> NoReturn:
    """Run as the child: find the hint, wait until the parent has printed it, record it, and exit."""
    try:
        signal.signal(signal.SIGALRM, signal.SIG_DFL)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGALRM})
        signal.setitimer(signal.ITIMER_REAL, DEADLINE_SECONDS)
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, _STDOUT)  # whoever reads it would wait for this process too
        os.dup2(nowhere, _STDERR)
        _find(tell, go)
    finally:
        os._exit(0)


def _find(tell: int, go: int) -> None:
    start, hint = _greeting()
    from repertoire.app.session import greet  # noqa: PLC0415 - its place is known only now

    owed = {"home": greet.notes_folder(), "rows": greet.owed(start, hint)}
    # no tab and no line end stands in JSON as it is written here
    os.write(tell, _output(hint) + b"\t" + json.dumps(owed).encode() + b"\n")
    if os.read(go, 1):
        greet.note(start, hint)
        os.write(tell, _NOTED)


def _alone() -> None:
    """Do the work in this process on a system without fork; if the interpreter's lock is held, exit with status 1."""
    import threading  # noqa: PLC0415 - takes its time, and is used here alone

    with open(os.devnull, "w", encoding="utf-8") as nowhere:  # noqa: PTH123 - it has no folder
        faulthandler.dump_traceback_later(DEADLINE_SECONDS + GRACE_SECONDS, exit=True, file=nowhere)
        timer = threading.Timer(DEADLINE_SECONDS, os._exit, (0,))
        timer.daemon = True
        timer.start()
        start, hint = _greeting()
        timer.cancel()
        faulthandler.cancel_dump_traceback_later()
    from repertoire.app.session import greet  # noqa: PLC0415

    sys.stdout.write(_output(hint).decode())
    sys.stdout.flush()
    greet.note(start, hint)


def _greeting() -> tuple[SessionStart, Greeting]:
    told = json.loads(sys.stdin.buffer.read().decode("utf-8", "replace") or "{}")  # Windows would read it otherwise
    sys.path.insert(0, SERVER)
    from repertoire.app.clock import now  # noqa: PLC0415
    from repertoire.app.session import greet  # noqa: PLC0415
    from repertoire.domain.hint import silenced  # noqa: PLC0415

    if silenced(os.environ):
        os._exit(0)
    start = greet.SessionStart(
        session=str(told.get("session_id", "")),
        project=str(told.get("cwd") or Path.cwd()),
        source=str(told.get("source", "startup")),
        at=now(),
    )
    return start, greet.greet(start)


def _output(hint: Greeting) -> bytes:
    output = {"hookSpecificOutput": {"hookEventName": EVENT, "additionalContext": hint.text}}
    return json.dumps(output).encode() if hint.text else b""


class _ChildOutput:
    """The output of the child, which is read until the deadline."""

    def __init__(self, source: int, until: float) -> None:
        self.until = until
        self.ended = False
        self._source = source
        self._read = b""

    def line(self) -> bytes:
        """Return the next line; empty if the child or the time ends before the line."""
        while b"\n" not in self._read:
            if not self._more():
                return b""
        line, _, self._read = self._read.partition(b"\n")
        return line

    def rest(self) -> bytes:
        """Return the rest of the output, until the child or the time ends."""
        while self._more():
            pass
        return self._read

    def _more(self) -> bool:
        if not select.select([self._source], [], [], max(self.until - time.monotonic(), 0.0))[0]:
            return False
        more = os.read(self._source, 65_536)
        self.ended = not more
        self._read += more
        return not self.ended


def _write(output: bytes, until: float) -> None:
    """Write to standard output without blocking; raise if nobody reads it."""
    while output:
        if not select.select([], [_STDOUT], [], max(until - time.monotonic(), 0.0))[1]:
            raise TimeoutError
        output = output[os.write(_STDOUT, output[: select.PIPE_BUF]) :]


def _leave_note(owed: bytes) -> None:
    note = json.loads(owed)
    sys.path.insert(0, SERVER)
    from repertoire.boot.spool import put_off  # noqa: PLC0415

    if note["rows"]:
        put_off(Path(note["home"]), note["rows"])


if __name__ == "__main__":
    main()
