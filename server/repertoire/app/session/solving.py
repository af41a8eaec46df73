"""Follows failing commands: finds the trace that solved an error before, and proposes to keep a hard-won solution."""

from __future__ import annotations

import secrets
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from repertoire.app.kernel import Repertoire
from repertoire.app.traces.contribute import draft
from repertoire.app.traces.search import TraceHit, Wanted, search_traces
from repertoire.app.traces.telling import Told
from repertoire.domain.event import PROPOSED, SHOWN, VOTED, Event, Moment
from repertoire.learning.checks import is_check
from repertoire.learning.shell import commands
from repertoire.learning.undoing import undoes
from repertoire.store.database import Store
from repertoire.traces import attempts
from repertoire.traces.detection import offered, to_offer
from repertoire.traces.drafting import draft_of
from repertoire.traces.invocations import Shell
from repertoire.traces.known_failures import fact, failed_before
from repertoire.traces.problem import SOLVED, SessionTrace
from repertoire.traces.signature import signatures_in

SEEN = "seen in a session"  # the voter of what a session shows by itself: a newcomer, whose word counts for little
_SESSIONS = 16  # sessions that are followed; those that were heard of longest ago are let go
_PROPOSED = 500  # newest proposals whose problems are not proposed again
_SHELL = Shell(commands, is_check, undoes)


@dataclass(frozen=True)
class Proposal:
    """A draft of a trace that nobody asked for: kept until somebody confirms it by its token, or for some days."""

    told: Told
    token: str
    title: str
    moment: Moment


@dataclass
class _Session:
    trace: SessionTrace = field(default_factory=SessionTrace)
    shown: dict[str, frozenset[str]] = field(default_factory=dict)  # trace -> the errors for which it was shown
    told: set[str] = field(default_factory=set)  # commands of which it was told that they failed before


class SolvingSessions:
    """What this process heard of failing commands, by session; it is gone with the process."""

    def __init__(self, repertoire: Repertoire) -> None:
        self._repertoire = repertoire
        self._sessions: dict[str, _Session] = {}

    def hear(self, session: str, told: Mapping[str, Any], moment: Moment) -> list[Event]:
        """Take one hook's payload; where a problem is solved for which a trace was shown, return a weak vote for it."""
        here = self._of(session)
        here.trace = attempts.fold(here.trace, {**told, "at": time.time()}, _SHELL)
        solved = {key for each in here.trace.problems if each.state == SOLVED for key in each.keys}
        served = [trace for trace, errors in here.shown.items() if errors & solved]
        for trace in served:
            del here.shown[trace]
        said = {"voter": SEEN, "up": True, "tag": "", "note": "", "environment": {}}
        return [Event(moment.at, VOTED, moment.session, moment.project, node=trace, data=said) for trace in served]

    def failed_before(self, session: str, command: str) -> str:
        """Return one line of fact on a command that failed here before with nothing changed since, once a command."""
        here = self._of(session)
        now = time.time()
        known = failed_before(here.trace, command, _SHELL, now)
        if known is None or known.key in here.told:
            return ""
        here.told.add(known.key)
        return fact(known, now)

    def solution(self, session: str, printed: str, moment: Moment) -> tuple[TraceHit | None, list[Event]]:
        """Return the trace that solved the same error, if one fits and was not shown in this session, and its event."""
        here, repertoire = self._of(session), self._repertoire
        errors = frozenset(signature.key for signature in signatures_in(printed))
        if not errors or not len(repertoire.traces.ids(active=True)):
            return None, []
        ready = repertoire.embedder is not None and repertoire.embedder.loaded
        wanted = Wanted("", printed, limit=1, without=frozenset() if ready else frozenset(("vectors",)))
        found = search_traces(
            repertoire.traces,
            wanted,
            embedder=repertoire.embedder if ready else None,
            muted=repertoire.muted(moment.project),
        )
        hit = found.hits[0] if found.fits and found.hits else None
        if hit is None or hit.muted or not hit.error or hit.trace.key in here.shown:
            return None, []
        here.shown[hit.trace.key] = errors
        return hit, [Event(moment.at, SHOWN, moment.session, moment.project, node=hit.trace.key)]

    def proposal(self, session: str, moment: Moment) -> tuple[Proposal | None, list[Event]]:
        """Return a draft of the hard-won solution of this turn, and the event; no problem is ever proposed twice."""
        here, store = self._of(session), self._repertoire.store
        before = store.events.recent(kinds=(PROPOSED,), limit=_PROPOSED)
        silent = frozenset(str(key) for event in before for key in event.data.get("errors", ()))
        problem = to_offer(here.trace, silent)
        if problem is None:
            return None, []
        here.trace = offered(here.trace, problem)
        found = draft_of(here.trace, problem)
        environment = {"language": found.languages[0]} if found.languages else {}
        told = Told(found.title, found.context, found.solution, found.tags, environment)
        data = {"errors": sorted(problem.keys)}
        proposal = Proposal(told, secrets.token_hex(4), found.title, moment)
        return proposal, [Event(moment.at, PROPOSED, moment.session, moment.project, data=data)]

    def _of(self, session: str) -> _Session:
        here = self._sessions[session] = self._sessions.pop(session) if session in self._sessions else _Session()
        while len(self._sessions) > _SESSIONS:
            self._sessions.pop(next(iter(self._sessions)))
        return here


def keep(store: Store, proposal: Proposal) -> None:
    """Keep a proposal as a draft that nobody finds."""
    draft(store, proposal.told, moment=proposal.moment, token=proposal.token)
