"""Stores the state of failing commands by session in files, without secrets, so that a restarted server continues."""

from __future__ import annotations

import re
from contextlib import suppress
from functools import lru_cache
from pathlib import Path

from repertoire.boot import session_files
from repertoire.traces.problem import SessionTrace
from repertoire.traces.session_codec import dumps, loads
from repertoire.trust.redaction import redact

_DIGEST = re.compile(r"[0-9a-f]{8,64}\Z")  # keys of errors and commands, which hold nothing of the text
_SHORTEST = 6  # characters of a secret


class SolvingStates:
    """The session states of this process; a state is written to a file once a command has failed in the session."""

    def __init__(self, home: Path, *, read_only: bool) -> None:
        self._home, self._read_only = home, read_only
        self._known: dict[str, tuple[int, SessionTrace]] = {}  # with the version of the file

    def get(self, session: str) -> SessionTrace:
        """Return the state of a session as any process wrote it last; a new state if its file was deleted."""
        version = session_files.version(self._home, session)
        known = self._known.get(session)
        if known is not None and known[0] == version:
            return known[1]
        held = session_files.read(self._home, session) if version else {}
        trace = loads(str(held["trace"])) if "trace" in held else SessionTrace()
        self._remember(session, version, trace)
        return trace

    def put(self, session: str, project: str, trace: SessionTrace) -> None:
        """Store the state of a session; it is written to its file once a command has failed in it."""
        version, before = self._known.get(session, (0, SessionTrace()))
        telling = trace.problems or trace.failed or version  # a state without a failure replaces one with
        if session and trace != before and telling and not self._read_only:
            with suppress(OSError):  # no space: it is known until the process ends
                held = {"project": project, "trace": dumps(trace, mask=_masked)}
                version = session_files.write(self._home, session, held)
        self._remember(session, version, trace)

    def forget(self, session: str) -> None:
        """Delete the state of a session."""
        self._known.pop(session, None)
        if not self._read_only:
            with suppress(OSError):
                session_files.remove(self._home, session)

    def _remember(self, session: str, version: int, trace: SessionTrace) -> None:
        self._known.pop(session, None)
        self._known[session] = version, trace
        while len(self._known) > session_files.MOST:
            self._known.pop(next(iter(self._known)))


@lru_cache(maxsize=2_048)
def _masked(text: str) -> str:
    """Return a text without secrets; a digest as it is."""
    return text if len(text) < _SHORTEST or _DIGEST.match(text) else redact(text)
