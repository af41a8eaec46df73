#!/usr/bin/env python3
"""Tells a new session which few components fit its project; prints hook JSON or nothing, and never fails.

Standard library only, Python 3.9 and later: nothing may be installed yet. A deadline ends it whatever hangs, because
every session waits for it.
"""

from __future__ import annotations

import contextlib
import json
import os
import sys
import threading
from collections.abc import Callable
from pathlib import Path

DEADLINE_SECONDS = 1.0
EVENT = "SessionStart"


class _Said:
    """What the session was told and the log does not have yet."""

    def __init__(self) -> None:
        self._speaking = threading.Lock()
        self.leave_note: Callable[[], None] | None = None

    def say(self, text: str, leave_note: Callable[[], None]) -> None:
        """Tell the session, and know from the same moment on that it was told."""
        with self._speaking:  # the deadline would come in where the write gives way to other threads
            sys.stdout.write(text)
            sys.stdout.flush()
            self.leave_note = leave_note

    def leave(self) -> None:
        """End the process; what was said is not lost for that."""
        with contextlib.suppress(Exception):
            self._speaking.acquire(timeout=DEADLINE_SECONDS)  # nobody may be reading
            if self.leave_note is not None:
                self.leave_note()
        os._exit(0)


def main() -> None:
    """Answer within the deadline; leave with status 0 in any case."""
    said = _Said()
    timer = threading.Timer(DEADLINE_SECONDS, said.leave)
    timer.daemon = True
    timer.start()
    with contextlib.suppress(Exception):  # no store yet, a locked or newer one, an odd project: the session goes on
        _answer(said)
    os._exit(0)


def _answer(said: _Said) -> None:
    told = json.loads(sys.stdin.buffer.read().decode("utf-8", "replace") or "{}")  # Windows would read it otherwise
    sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "server"))
    from repertoire.app import greet  # noqa: PLC0415 - its place is known only now
    from repertoire.app.clock import now  # noqa: PLC0415
    from repertoire.domain.hint import silenced  # noqa: PLC0415

    if silenced(os.environ):
        return
    start = greet.Start(
        session=str(told.get("session_id", "")),
        project=str(told.get("cwd") or Path.cwd()),
        source=str(told.get("source", "startup")),
        at=now(),
    )
    hint = greet.greet(start)
    output = {"hookSpecificOutput": {"hookEventName": EVENT, "additionalContext": hint.text}}
    said.say(json.dumps(output) if hint.text else "", lambda: greet.leave_note(start, hint))
    greet.note(start, hint)


if __name__ == "__main__":
    main()
