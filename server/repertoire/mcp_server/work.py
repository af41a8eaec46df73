"""The job of the server's answering lane: answer tools and hooks from the graph. Importing it is heavy."""

from __future__ import annotations

import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from repertoire.app.clock import now
from repertoire.app.current_project import current_project
from repertoire.app.health.status import NOTHING_KNOWN
from repertoire.app.projects.places import require_folder, root_of
from repertoire.app.projects.watching import start_watching
from repertoire.app.session import hook_events, solving
from repertoire.app.session.covering_pack import covering_pack
from repertoire.app.session.hint import HintLimits, Offer, names_components, offer
from repertoire.app.session.noticed import NoticingSessions
from repertoire.app.session.spool import of_session, record_events
from repertoire.app.upkeep.background_refresh import running, start_detached_refresh
from repertoire.app.upkeep.refresh_due import holds_only_catalogue, is_refresh_due, lacks_catalogue
from repertoire.app.usage import lessons
from repertoire.domain.answer import Answer, Recommendation
from repertoire.domain.event import UNDONE, Event, Moment
from repertoire.domain.hint import silenced, switched_off
from repertoire.learning.edits import Edits
from repertoire.learning.selections import Mention, from_command, from_tool
from repertoire.learning.session import SessionState, replay
from repertoire.learning.signals import asks, is_command, is_outside, place_of, signal_of_call
from repertoire.mcp_server.hook_calls import NOTHING, Hook, context_output, user_output
from repertoire.mcp_server.opened import Opened
from repertoire.mcp_server.reply import Reply
from repertoire.mcp_server.writes import Lesson
from repertoire.rendering.project_review import noticed_text
from repertoire.rendering.traces import hint_text, mention_text, proposal_text
from repertoire.verbs.verb import Context

_KEPT_REQUESTS = 50  # sessions' last requests whose text is kept in memory, for settings that keep it off the disk
_FRESH_SECONDS = 10.0
_BEGUN = "what Claude Code has here is still being read: so far from the shipped catalogue alone"
_REHEARSED = "Write what nobody asked for into the file"


@dataclass(frozen=True)
class HookOutcome:
    """A hook's answer, and the events to log because of it."""

    text: str = "{}"
    events: tuple[Event, ...] = ()
    lessons: tuple[Lesson, ...] = ()


class Answers(Opened):
    """Answers tools and hooks from the store; returns the events that are to be logged."""

    def __init__(self, environment: Mapping[str, str]) -> None:
        super().__init__(environment)
        self._requests: dict[str, lessons.AskedPrompt] = {}
        self._continuing: set[str] = set()  # sessions whose present turn goes on with the last request
        self._edits: dict[str, Edits] = {}
        self._solving = solving.SolvingSessions(self.repertoire)
        self._noticing = NoticingSessions(self.repertoire)
        self._freshened = -_FRESH_SECONDS

    def tool(self, name: str, arguments: Mapping[str, Any]) -> tuple[Reply, tuple[Event, ...]]:
        """Answer a tool that only reads; return the reply and the events to log."""
        self.require_settings()
        from repertoire.mcp_server.calls import CALLS  # noqa: PLC0415 - a tenth of a second, which no hook needs

        call, context = CALLS[name], self._context(arguments)
        question = call.question(arguments)
        answer = call.verb.run(context, question)
        if isinstance(answer, (Answer, Recommendation)):
            answer = replace(answer, degraded=(*answer.degraded, *self._unread()))
        events = tuple(call.verb.events(context, question, answer))
        return Reply(call.verb.text(answer), call.verb.data(answer)), events

    def _context(self, arguments: Mapping[str, Any]) -> Context:
        named = arguments.get("project", "")
        context = Context.of(self.repertoire, project=named, environment=self._environment)
        if named:  # the answer would else be one for no languages and frameworks, as if the project had none
            require_folder(context.project)
        return context

    def refresh_if_stale(self) -> subprocess.Popen[bytes] | None:
        """Start a detached, niced refresh if one is due; only one runs on a machine at a time."""
        repertoire = self.repertoire
        if not self._may_refresh or not is_refresh_due(repertoire, self._environment):
            return None
        return start_detached_refresh(repertoire.home)

    def refreshed_by_another(self) -> bool:
        """Tell whether a refresh runs that this process may not have started."""
        return self._may_refresh and running(self.repertoire.home)

    def watch(self) -> subprocess.Popen[bytes] | None:
        """Start the process that reads the current project's changes, if it has a memory and the settings want it."""
        repertoire = self.repertoire
        root = root_of(repertoire.home, current_project(self._environment))
        if not root or not repertoire.settings.watch or repertoire.store.read_only or self.faults:
            return None
        return start_watching(repertoire.home, root)

    def awaits_first_reading(self) -> bool:
        """Tell whether the shipped catalogue is not there yet and a refresh may bring it."""
        return self._may_refresh and lacks_catalogue(self.repertoire)

    def _unread(self) -> tuple[str, ...]:
        if self._may_refresh and holds_only_catalogue(self.repertoire):
            return (_BEGUN,)
        return () if self.repertoire.store.sources.all() else (NOTHING_KNOWN,)

    @property
    def _may_refresh(self) -> bool:
        repertoire = self.repertoire
        can = not repertoire.store.read_only and not self.faults  # with a fault the refresh would refuse
        return not self._off and can and repertoire.settings.background

    @property
    def wants_model(self) -> bool:
        """Tell whether questions that need the model can be expected."""
        return not self._off and self.repertoire.embedder is not None and not self.awaits_first_reading()

    def rehearse(self) -> None:
        """Answer a made-up prompt to compile and load what a first answer needs; nothing is recorded."""
        self.prompt(Hook({"prompt": _REHEARSED}))
        self._requests.pop("", None)

    def load_tools(self) -> None:
        """Import what tools do, so that the first call does not wait for it; hooks need none of it."""
        from repertoire.mcp_server.calls import CALLS  # noqa: PLC0415, F401

    def freshen(self) -> None:
        """Load changes from the store between hooks, so that no hook waits for that; not at every step of an ingest."""
        if time.monotonic() - self._freshened >= _FRESH_SECONDS:
            self._freshened = time.monotonic()
            self.repertoire.pipeline.refresh()
            self.repertoire.use.renewed()  # ignored hints change the statistics of use, and no snapshot

    def needs_model(self, name: str, hook: Hook) -> bool:
        """Tell whether a hook is worth loading the model for: a prompt in a component's words, or a failed command."""
        embedder = self.repertoire.embedder
        if embedder is None or embedder.loaded:
            return False
        if name == "hook_failed" and hook.name("tool_name") == "Bash":
            return self._shows_traces(hook) and bool(len(self.repertoire.traces.ids(active=True)))
        return name == "hook_prompt" and names_components(self.repertoire.store, hook.text("prompt"))

    def hook(self, name: str, hook: Hook) -> HookOutcome:
        """Answer a hook, and return the events to log."""
        if self._off:
            return HookOutcome()
        return _HOOKS[name](self, hook)

    def spool(self, events: Sequence[Event]) -> None:
        """Write events to the spool before the call is answered: a process that is killed then must not lose them.

        Raises: OSError when they cannot be kept.
        """
        record_events(self.repertoire.store, events)

    @property
    def _off(self) -> bool:
        return switched_off(self._environment)

    def prompt(self, hook: Hook) -> HookOutcome:
        """Offer components that fit a prompt, and record the request."""
        self._follow({"hook": "UserPromptSubmit"}, hook)
        if self._silent(hook):
            return HookOutcome()
        prompt, moment, session = hook.text("prompt"), _moment(hook), self._session(hook.session)
        self._noticing.hear(prompt, moment)
        if is_command(prompt):  # the hook that tells of its work may come before this one or after it
            return HookOutcome()
        before = hook_events.corrected(prompt, moment, session)
        request, last = lessons.open_request(prompt, self.repertoire.settings), self._last(hook.session, session)
        goes_on = lessons.continues(prompt, last, answers=session.answers)
        (self._continuing.add if goes_on else self._continuing.discard)(hook.session)
        if request is None:  # of an interrupted request the client tells no end: other work does
            return HookOutcome(events=before if goes_on else (*before, *hook_events.closed(moment, session)))
        if goes_on and last is not None:
            request = last
        else:
            self._keep(hook.session, request)
            before = (*before, hook_events.asked(request, moment, self.repertoire.settings))
        found = None if hook.late else self._offer(hook, session)
        if found is None or hook.late:  # an offer that is not shown does not count as one
            return HookOutcome(events=before)
        found, hint = self._with_others(found, hook, moment, request.key)
        named = (*hook_events.offered(found, moment, request.key), *hook_events.held(found, moment, request.key))
        events = (*before, *named, *hint.events)
        text = "\n".join(part for part in (found.text, hint.text) if part)
        return HookOutcome(context_output("UserPromptSubmit", text), events)

    def _with_others(self, found: Offer, hook: Hook, moment: Moment, request: str) -> tuple[Offer, solving.Hint]:
        """Return the offer with what other systems add: a pack that covers the question, a trace of the error."""
        prompt, muted = hook.text("prompt"), self.repertoire.unfit_for_hints(hook.project)
        named = frozenset(hit.component.id for hit in found.hits)
        pack = covering_pack(self.repertoire, prompt, muted=muted | named)
        both = self._solving.beside(found, prompt, moment, mention_text, pack=pack, request=request)
        return (Offer(), solving.Hint()) if hook.late else both  # what is not shown does not count as an offer

    def used(self, hook: Hook) -> HookOutcome:
        """Take in a tool call; return its events and lesson: a use, how earlier uses went, a reverting edit, a vote."""
        told = _told(hook, "PostToolUse")
        voted = self._follow(told, hook)
        if hook.name("tool_name") == "Bash":
            call = hook.mapping("tool_input"), hook.mapping("tool_response")
            signal = "" if told["outside"] else signal_of_call(*call)
            signalled = hook_events.signalled(signal, _moment(hook), self._session(hook.session))
            return HookOutcome(events=(*voted, *signalled))
        if hook.name("tool_name") == "Edit":
            if not self._edits_of(hook.session).add(hook.mapping("tool_input")):
                return HookOutcome(events=tuple(voted))
            undone = hook_events.signalled(UNDONE, _moment(hook), self._session(hook.session))
            return HookOutcome(events=(*voted, *undone))
        used = self._selection(hook, from_tool(hook.name("tool_name"), hook.names("tool_input"), hook.server))
        return replace(used, events=(*voted, *used.events))

    def before(self, hook: Hook) -> HookOutcome:
        """Say that a command about to run failed before, if nothing changed since; the command is not stopped."""
        if not self._shows_traces(hook):
            return HookOutcome()
        command = str(hook.mapping("tool_input").get("command", ""))
        said = self._solving.failed_before(command, _place(hook), _moment(hook))
        return HookOutcome(context_output("PreToolUse", said.text), said.events)

    def expanded(self, hook: Hook) -> HookOutcome:
        """Record the component that a slash command selected; its arguments are the request after the open one."""
        mention = from_command(hook.name("command_name"))
        self._continuing.discard(hook.session)
        if mention is None or mention.ours:
            return HookOutcome()
        request = (
            None if self._silent(hook) else lessons.open_request(hook.text("command_args"), self.repertoire.settings)
        )
        if request is None:
            ended = hook_events.closed(_moment(hook), self._session(hook.session))
            return self._selection(hook, mention, before=ended)
        self._keep(hook.session, request)
        asked = hook_events.asked(request, _moment(hook), self.repertoire.settings)
        return self._selection(hook, mention, before=(asked,))

    def failed(self, hook: Hook) -> HookOutcome:
        """Record the failure of a component's call, or show the trace that solved the error of a command."""
        if hook.name("tool_name") == "Bash":
            return self._command_failed(hook)
        mention = from_tool(hook.name("tool_name"), hook.names("tool_input"), hook.server)
        session, before = self._at_use(hook)
        store = self.repertoire.store
        events = hook_events.failed(store, mention, _moment(hook), session, error=hook.text("error"))
        return HookOutcome(events=(*before, *events) if events else ())

    def _command_failed(self, hook: Hook) -> HookOutcome:
        moment = _moment(hook)
        voted = self._follow(_told(hook, "PostToolUseFailure"), hook)
        silent = hook.late or not self._shows_traces(hook)
        hint = None if silent else self._solving.solution(hook.head_and_tail("error"), moment, hint_text)
        if hint is None or hook.late:  # a hint that is not shown does not count as one
            return HookOutcome(events=tuple(voted))
        return HookOutcome(context_output("PostToolUseFailure", hint.text), (*voted, *hint.events))

    def stop(self, hook: Hook) -> HookOutcome:
        """Close the open request, and propose to keep a hard-won solution of this turn."""
        self._continuing.discard(hook.session)
        self._edits_of(hook.session).end_turn()
        session, asks_back = self._session(hook.session), asks(hook.tail("last_assistant_message"))
        closed = hook_events.closed(_moment(hook), session, asks=asks_back)
        proposal, proposed = self._proposal(hook)
        silent = hook.late or self._silent(hook)
        seen = None if silent else self._noticing.sighting(hook.tail("last_assistant_message"), _moment(hook))
        lines = [proposal_text(proposal.title, proposal.token)] if proposal is not None else []
        lines += [noticed_text(len(seen.candidates))] if seen is not None and seen.first else []
        said = user_output("\n".join(lines)) if lines else NOTHING
        return HookOutcome(said, (*closed, *proposed), tuple(one for one in (proposal, seen) if one is not None))

    def _proposal(self, hook: Hook) -> tuple[solving.Proposal | None, list[Event]]:
        self._follow({"hook": "Stop"}, hook)
        again = hook.name("stop_hook_active") == "true"
        if again or self.repertoire.store.read_only or not self._shows_traces(hook):
            return None, []
        return self._solving.proposal(_moment(hook))

    def _follow(self, told: Mapping[str, Any], hook: Hook) -> list[Event]:
        """Take in what a session does, if it may be told of it; else keep nothing of its commands and edits."""
        if self._shows_traces(hook):
            return self._solving.hear(told, _moment(hook))
        self._solving.forget(hook.session)
        return []

    def _shows_traces(self, hook: Hook) -> bool:
        return self.repertoire.settings.trace_hints and not self._silent(hook)

    def _selection(self, hook: Hook, mention: Mention | None, *, before: Sequence[Event] = ()) -> HookOutcome:
        moment, (session, leading) = _moment(hook), self._at_use(hook, *before)
        events = hook_events.selected(self.repertoire.store, mention, moment, session)
        if events:
            before = leading
            self._edits_of(hook.session).forget()
        request = self._last(hook.session, session)
        node = events[0].node if events else ""
        learned = node in session.selected
        if not node or learned or request is None or request.key != session.request:
            return HookOutcome(events=(*before, *events))
        lesson = lessons.lesson(request, node, moment, self.repertoire.embedder)
        return HookOutcome(events=(*before, *events), lessons=(lesson,))

    def _at_use(self, hook: Hook, *before: Event) -> tuple[SessionState, tuple[Event, ...]]:
        """Return the state in which a component is used, and the events before the use.

        In a turn that goes on with the last request, the first use opens this again.
        """
        session = self._session(hook.session, *before)
        last = self._last(hook.session, session)
        if last is None or session.request or hook.session not in self._continuing:
            return session, before
        before = (*before, hook_events.asked(last, _moment(hook), self.repertoire.settings))
        return self._session(hook.session, *before), before

    def _last(self, session: str, state: SessionState) -> lessons.AskedPrompt | None:
        """Return the last request of a session, open or closed; None if its text was kept nowhere."""
        kept = self._requests.get(session)
        if kept is not None and kept.key == state.last:
            return kept
        return lessons.AskedPrompt(state.last, state.last_prompt) if state.last_prompt else None

    def _offer(self, hook: Hook, session: SessionState) -> Offer:
        repertoire = self.repertoire
        ready = repertoire.embedder is not None and repertoire.embedder.loaded
        limits = HintLimits(
            muted=repertoire.unfit_for_hints(hook.project),
            seen=session.seen,
            items=repertoire.settings.hint_limit,
            without=frozenset() if ready else frozenset(("vectors",)),
            project=hook.project,
            session=hook.session,
            demands=repertoire.use.demands(),
            weary=repertoire.use.weary(),
            looks=repertoire.use.looks(),
        )
        return offer(repertoire.pipeline, hook.text("prompt"), limits)

    def _session(self, session: str, *more: Event) -> SessionState:
        if not session:
            return replay(more)
        return replay([*of_session(self.repertoire.store, session), *more])

    def _silent(self, hook: Hook) -> bool:
        if silenced(self._environment) or not self.repertoire.settings.hints:
            return True
        return hook.project in self.repertoire.store.preferences.silent(project=hook.project)

    def _edits_of(self, session: str) -> Edits:
        """Return the edits of a session; the least recently used sessions are dropped."""
        edits = self._edits[session] = self._edits.pop(session) if session in self._edits else Edits()
        while len(self._edits) > _KEPT_REQUESTS:
            self._edits.pop(next(iter(self._edits)))
        return edits

    def _keep(self, session: str, request: lessons.AskedPrompt) -> None:
        self._requests.pop(session, None)
        self._requests[session] = request
        while len(self._requests) > _KEPT_REQUESTS:
            self._requests.pop(next(iter(self._requests)))


_HOOKS: Mapping[str, Callable[[Answers, Hook], HookOutcome]] = {
    "hook_prompt": Answers.prompt,
    "hook_expanded": Answers.expanded,
    "hook_before": Answers.before,
    "hook_used": Answers.used,
    "hook_failed": Answers.failed,
    "hook_stop": Answers.stop,
}


def _told(hook: Hook, name: str) -> dict[str, Any]:
    """Return a hook's payload as the detection of hard-won solutions reads it."""
    place = _place(hook)
    return {
        "hook": name,
        "tool_name": hook.name("tool_name"),
        "tool_input": hook.mapping("tool_input"),
        "tool_response": hook.mapping("tool_response") or hook.head_and_tail("tool_response"),
        "error": hook.head_and_tail("error"),
        "place": place,
        "outside": is_outside(place, hook.project),
    }


def _place(hook: Hook) -> str:
    """Return where a hook's command works, as far as known."""
    return place_of(str(hook.mapping("tool_input").get("command", "")), hook.text("cwd"), hook.project)


def _moment(hook: Hook) -> Moment:
    return Moment(now(), hook.session, hook.project)
