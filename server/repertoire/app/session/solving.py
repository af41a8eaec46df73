"""Follows a session's failing commands: finds traces that solved an error, and proposes hard-won solutions."""

from __future__ import annotations

import secrets
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from repertoire.app.kernel import Repertoire
from repertoire.app.session.covering_pack import CoveringPack
from repertoire.app.session.hint import Offer, limited_to
from repertoire.app.session.hook_events import held_back
from repertoire.app.session.occasion import occasion_of
from repertoire.app.session.solving_state import SolvingStates
from repertoire.app.session.spool import of_session
from repertoire.domain.event import HELD, PROPOSED, SHOWN, TAKEN, VOTED, Event, Moment
from repertoire.domain.tokens import tokens_of
from repertoire.learning.arbiter import (
    COMPONENT_TOKENS,
    FAILED_COMMAND,
    SHOWN_BEFORE,
    TRACE,
    Candidate,
    Decision,
    arbitrate,
)
from repertoire.learning.checks import is_check
from repertoire.learning.hints import BEFORE_COMMAND, FAILURE, PROMPT
from repertoire.learning.shell import commands
from repertoire.learning.undoing import undoes
from repertoire.projects.languages import holds_secrets
from repertoire.store.database import Store
from repertoire.traces import attempts
from repertoire.traces.detection import offered, to_offer
from repertoire.traces.drafting import draft_of
from repertoire.traces.invocations import Shell, invocation_of
from repertoire.traces.known_failures import fact, failed_before
from repertoire.traces.problem import SOLVED, SessionTrace
from repertoire.traces.signature import signatures_in

if TYPE_CHECKING:  # most prompts quote no error, and most turns solve nothing that was hard
    from repertoire.app.traces.fields import TraceFields
    from repertoire.app.traces.search import TraceHit

SEEN = "seen in a session"  # the voter of what a session shows by itself: a newcomer, whose word counts for little
_HELPS = 0.6  # probability that a trace helps if it answers the error for sure; of one that just fits, HINT_THRESHOLD
_REPEATED = 0.5  # probability that a command fails again if nothing was changed since it failed
_TEXTS = ("old_string", "new_string", "content")  # of an edit
_SHELL = Shell(commands, is_check, undoes)


@dataclass(frozen=True)
class Proposal:
    """A draft of a trace that a session proposes: stored until a person confirms it by its token, or some days."""

    told: TraceFields
    token: str
    title: str
    moment: Moment


@dataclass(frozen=True)
class Hint:
    """A line for the model, empty if nothing is shown, and the events of showing it or of holding it back."""

    text: str = ""
    events: tuple[Event, ...] = ()


class SolvingSessions:
    """Handles the hooks of failing commands, and holds the state of each session."""

    def __init__(self, repertoire: Repertoire) -> None:
        self._repertoire = repertoire
        store = repertoire.store
        self._states = SolvingStates(store.path.parent, read_only=store.read_only)

    def hear(self, told: Mapping[str, Any], moment: Moment) -> list[Event]:
        """Update the session with a hook's payload; return events and votes for hints that it shows to be used."""
        before = self._states.get(moment.session)
        after = attempts.fold(before, {**_without_secrets(told), "at": time.time()}, _SHELL)
        self._states.put(moment.session, moment.project, after)
        solved = _solved(after) - _solved(before)
        heeded = frozenset() if _changes_nothing(told, before) else _failed(before) - _failed(after)
        if not (solved or heeded):
            return []
        shown, taken = self._hints(moment.session)
        served = [node for node, errors in shown.items() if errors & solved]
        warned = [node for node in shown if node in heeded]
        said = {"voter": SEEN, "up": True, "tag": "", "note": "", "environment": {}}
        kinds: list[tuple[str, str, Mapping[str, Any]]] = [
            (TAKEN, node, {}) for node in (*served, *warned) if node not in taken
        ]
        kinds += [(VOTED, node, said) for node in served]
        return [
            Event(moment.at, kind, moment.session, moment.project, node=node, data=data) for kind, node, data in kinds
        ]

    def forget(self, session: str) -> None:
        """Forget what a session did, on the disk too."""
        self._states.forget(session)

    def failed_before(self, command: str, place: str, moment: Moment) -> Hint:
        """Return a line on a command that failed in a place before, nothing changed since; once for each command."""
        now = time.time()
        known = failed_before(self._states.get(moment.session), command, _SHELL, now, place=place)
        if known is None:
            return Hint()
        text = fact(known, now)
        return self._shown(
            Candidate(_command(known.key), FAILED_COMMAND, _REPEATED, tokens_of(text)), BEFORE_COMMAND, text, moment
        )

    def solution(self, printed: str, moment: Moment, render: Callable[[TraceHit], str]) -> Hint:
        """Return the rendered trace that solved the same error, if one fits and the arbiter lets it be shown."""
        errors = sorted({signature.key for signature in signatures_in(printed)})
        found = self._same_error(printed, moment, render) if errors else None
        if found is None:
            return Hint()
        candidate, text = found
        return self._shown(candidate, FAILURE, text, moment, errors=errors)

    def beside(
        self,
        found: Offer,
        prompt: str,
        moment: Moment,
        render: Callable[[TraceHit], str],
        *,
        pack: CoveringPack | None = None,
        request: str = "",
    ) -> tuple[Offer, Hint]:
        """Return the offer for a prompt, and lines on the trace of a quoted error and a covering pack, in a budget."""
        traces = self._repertoire.settings.trace_hints and signatures_in(prompt)
        solved = self._same_error(prompt, moment, render) if traces else None
        if solved is None and pack is None:
            return found, Hint()
        named = [
            Candidate(one.component.id, one.component.type, found.confidence, COMPONENT_TOKENS) for one in found.hits
        ]
        own = [solved[0]] if solved is not None else []
        own += [pack.candidate] if pack is not None else []
        decision = arbitrate([*named, *own], occasion_of(self._repertoire, PROMPT, moment, prompt))
        hint = self._as_shown(solved[0], PROMPT, solved[1], moment, decision) if solved is not None else Hint()
        held = [held_back(hit, why, moment) for hit in found.hits if (why := decision.held.get(hit.component.id))]
        events, texts = [*hint.events, *held], [hint.text]
        if pack is not None and pack.candidate.key in decision.shown:
            texts.append(pack.text)
            events.append(pack.offered(moment, request, rank=len(found.hits) + 1))
        text = "\n".join(part for part in texts if part)
        return limited_to(found, decision.shown), replace(hint, text=text, events=tuple(events))

    def proposal(self, moment: Moment) -> tuple[Proposal | None, list[Event]]:
        """Return a draft of the hard-won solution of this turn, and the event; no problem is ever proposed twice."""
        trace = self._states.get(moment.session)
        if not trace.problems:
            return None, []
        from repertoire.app.traces.contribute import proposed_before  # noqa: PLC0415 - most turns solve nothing hard
        from repertoire.app.traces.fields import TraceFields, redacted  # noqa: PLC0415

        problem = to_offer(trace, proposed_before(self._repertoire.store))
        if problem is None:
            return None, []
        self._states.put(moment.session, moment.project, offered(trace, problem))
        found = draft_of(trace, problem)
        environment = {"language": found.languages[0]} if found.languages else {}
        told = TraceFields(found.title, found.context, found.solution, found.tags, environment)
        data = {"errors": sorted(problem.keys)}
        proposal = Proposal(told, secrets.token_hex(4), redacted(found.title, moment.project), moment)
        return proposal, [Event(moment.at, PROPOSED, moment.session, moment.project, data=data)]

    def _same_error(
        self, printed: str, moment: Moment, render: Callable[[TraceHit], str]
    ) -> tuple[Candidate, str] | None:
        """Return the trace that fits and shows the same error, or one like it, as a candidate and as text, if any."""
        repertoire = self._repertoire
        if not len(repertoire.traces.ids(active=True)):
            return None
        from repertoire.app.traces.search import TraceQuery, search_traces  # noqa: PLC0415 - most prompts quote no error

        ready = repertoire.embedder is not None and repertoire.embedder.loaded
        wanted = TraceQuery("", printed, limit=1, without=frozenset() if ready else frozenset(("vectors",)))
        found = search_traces(
            repertoire.traces,
            wanted,
            embedder=repertoire.embedder if ready else None,
            muted=repertoire.muted(moment.project),
        )
        hit = found.hits[0] if found.fits and found.hits else None
        if hit is None or hit.muted or not hit.error:
            return None
        if hit.alike and hit.nameless and hit.trace.project != moment.project:  # another thing is missing elsewhere
            return None
        text = render(hit)
        return Candidate(hit.trace.key, TRACE, _HELPS * found.confidence, tokens_of(text)), text

    def _shown(self, candidate: Candidate, where: str, text: str, moment: Moment, **more: object) -> Hint:
        occasion = occasion_of(self._repertoire, where, moment, candidate.key)
        return self._as_shown(candidate, where, text, moment, arbitrate((candidate,), occasion), **more)

    def _as_shown(
        self, candidate: Candidate, where: str, text: str, moment: Moment, decision: Decision, **more: object
    ) -> Hint:
        def event(kind: str, data: Mapping[str, Any]) -> Event:
            told = {"where": where, "type": candidate.kind, **data}
            return Event(moment.at, kind, moment.session, moment.project, node=candidate.key, data=told)

        if candidate.key in decision.shown:
            return Hint(text, (event(SHOWN, {"tokens": candidate.tokens, **more}),))
        why = decision.held[candidate.key]
        return Hint() if why == SHOWN_BEFORE else Hint("", (event(HELD, {"why": why}),))

    def _hints(self, session: str) -> tuple[dict[str, frozenset[str]], frozenset[str]]:
        """Return the errors for which hints were shown in a session, by trace or command, and which were used."""
        events = of_session(self._repertoire.store, session) if session else []
        taken = frozenset(event.node for event in events if event.kind == TAKEN)
        shown: dict[str, frozenset[str]] = {}
        for event in events:
            if event.kind == SHOWN:
                shown[event.node] = shown.get(event.node, frozenset()).union(event.data.get("errors", ()))
        return shown, taken


def keep(store: Store, proposal: Proposal) -> None:
    """Store a proposal as a draft, which no search finds."""
    from repertoire.app.traces.contribute import draft  # noqa: PLC0415 - few turns propose anything

    draft(store, proposal.told, moment=proposal.moment, token=proposal.token)


def _without_secrets(told: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return a hook's payload without the texts of an edit of a file that is made to hold secrets.

    A value in it may stand without the name by which redaction would know it.
    """
    given = told.get("tool_input", {})
    file = given.get("file_path")
    if not isinstance(file, str) or not holds_secrets(file):
        return told
    # the hash is this process's own: it tells one text from another, and nothing of either
    texts = {name: f"(left out {hash(str(given[name])):x})" for name in _TEXTS if name in given}
    return {**told, "tool_input": {"file_path": file, **texts}, "tool_response": {}}


def _solved(trace: SessionTrace) -> frozenset[str]:
    return frozenset(key for each in trace.problems if each.state == SOLVED for key in each.keys)


def _failed(trace: SessionTrace) -> frozenset[str]:
    return frozenset(_command(each.key) for each in trace.failed)


def _command(key: str) -> str:
    return f"command:{key}"


def _changes_nothing(told: Mapping[str, Any], before: SessionTrace) -> bool:
    """Tell whether a hook reports a prompt, or a command that failed before and runs again or that may only read."""
    if told.get("hook") == "UserPromptSubmit":
        return True
    command = str(told.get("tool_input", {}).get("command", ""))
    here = invocation_of(command, _SHELL)
    again = here.key in {each.key for each in before.failed}
    return bool(command) and (again or not (here.parts or here.changes))
