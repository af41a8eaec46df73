#!/usr/bin/env python3
"""Tells a new session which few components fit its project; prints hook JSON or nothing, and never fails.

Standard library only, Python 3.9 and later: nothing may be installed yet. A deadline ends it even if something hangs,
because every session waits for it. A thread could not keep this deadline: while a regular expression matches, no other
thread gets the interpreter's lock. So a child process reads the project, under an alarm with which the system ends it.
This process never reads the project: it prints the child's output, and appends it to the spool then.
"""

# Annotations and syntax stay readable to Python 3.6, where this must be as silent as elsewhere.
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
    from collections.abc import Mapping
    from typing import Any

    from repertoire.app.session.greeting import Greeting

DEADLINE_SECONDS = 1.0
GRACE_SECONDS = 0.2  # added to the deadline, for the alarm to end the child
EVENT = "SessionStart"
SERVER = str(Path(__file__).resolve().parent.parent / "server")
_STDOUT, _STDERR = 1, 2


def main() -> None:
    """Print the hint within the deadline; exit with status 0 in any case."""
    with contextlib.suppress(Exception):  # no store yet, a locked or newer one, an odd project: the session goes on
        for ended in (signal.SIGINT, signal.SIGTERM):
            signal.signal(ended, lambda *_: os._exit(0))
        if hasattr(os, "fork"):
            _watch()
        else:
            _alone()
    os._exit(0)


def _watch() -> None:
    """Print the output of a child process, then append its hint to the spool."""
    heard, tell = os.pipe()
    child = os.fork()
    if not child:
        os.close(heard)
        _work(tell)
    os.close(tell)
    until = time.monotonic() + DEADLINE_SECONDS + GRACE_SECONDS
    told = _read(heard, until)
    if told is None:  # the system itself holds the child, and would hold us
        return
    output, _, owed = told.partition(b"\t")
    if owed.endswith(b"\n"):
        _write(output, until)
        _record(json.loads(owed))
    os.waitpid(child, 0)


def _work(tell: int) -> NoReturn:
    """Run as the child: find the hint, tell it the parent, and exit."""
    try:
        signal.signal(signal.SIGALRM, signal.SIG_DFL)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGALRM})
        signal.setitimer(signal.ITIMER_REAL, DEADLINE_SECONDS)
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, _STDOUT)  # whoever reads it would wait for this process too
        os.dup2(nowhere, _STDERR)
        hint, owed = _greeting()
        # no tab and no line end stands in JSON as it is written here
        os.write(tell, _output(hint) + b"\t" + json.dumps(owed).encode() + b"\n")
    finally:
        os._exit(0)


def _alone() -> None:
    """Do the work in this process on a system without fork; if the interpreter's lock is held, exit with status 1."""
    import threading  # noqa: PLC0415 - takes its time, and is used here alone

    with open(os.devnull, "w", encoding="utf-8") as nowhere:  # noqa: PTH123 - it has no folder
        faulthandler.dump_traceback_later(DEADLINE_SECONDS + GRACE_SECONDS, exit=True, file=nowhere)
        timer = threading.Timer(DEADLINE_SECONDS, os._exit, (0,))
        timer.daemon = True
        timer.start()
        hint, owed = _greeting()
        timer.cancel()
        faulthandler.cancel_dump_traceback_later()
    sys.stdout.write(_output(hint).decode())
    sys.stdout.flush()
    _record(owed)


def _greeting() -> "tuple[Greeting, Mapping[str, Any]]":
    sys.path.insert(0, SERVER)
    from repertoire.app.clock import now  # noqa: PLC0415
    from repertoire.app.current_project import session_project  # noqa: PLC0415
    from repertoire.app.session import greet  # noqa: PLC0415
    from repertoire.boot.home import locate  # noqa: PLC0415
    from repertoire.boot.hook_input import read_told  # noqa: PLC0415
    from repertoire.domain.hint import silenced  # noqa: PLC0415

    if silenced(os.environ):
        os._exit(0)
    told = read_told()
    start = greet.SessionStart(
        session=str(told.get("session_id", "")),
        project=session_project(str(told.get("cwd") or Path.cwd())),
        source=str(told.get("source", "startup")),
        at=now(),
    )
    hint = greet.greet(start)
    return hint, {"home": str(locate()), "rows": greet.owed(start, hint)}


def _output(hint: "Greeting") -> bytes:
    output = {"hookSpecificOutput": {"hookEventName": EVENT, "additionalContext": hint.text}}
    return json.dumps(output).encode() if hint.text else b""


def _read(source: int, until: float) -> "bytes | None":
    """Return all that the child tells before it ends; None if the time ends before."""
    told = b""
    while select.select([source], [], [], max(until - time.monotonic(), 0.0))[0]:
        more = os.read(source, 65_536)
        if not more:
            return told
        told += more
    return None


def _write(output: bytes, until: float) -> None:
    """Write to standard output without blocking; raise if nobody reads it."""
    while output:
        if not select.select([], [_STDOUT], [], max(until - time.monotonic(), 0.0))[1]:
            raise TimeoutError
        output = output[os.write(_STDOUT, output[: select.PIPE_BUF]) :]


def _record(owed: "Mapping[str, Any]") -> None:
    """Append what was said to the spool: at once, whoever has the database locked."""
    sys.path.insert(0, SERVER)
    from repertoire.boot.spool import put_off  # noqa: PLC0415 - its place is known only now

    if owed["rows"]:
        put_off(Path(owed["home"]), owed["rows"])


if __name__ == "__main__":
    main()
