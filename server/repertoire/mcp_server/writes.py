"""The job of the server's writing lane: tools that write, the log, and what hooks taught. Importing it is heavy."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, Any, Union

from repertoire.app.session import solving
from repertoire.app.session.noticed import keep_sighting
from repertoire.app.session.spool import take_in
from repertoire.app.usage import lessons
from repertoire.app.usage.compact_log import compact_when_due
from repertoire.domain.errors import StoreBusy
from repertoire.mcp_server.opened import Opened
from repertoire.mcp_server.reply import ASKS, Consent, Reply
from repertoire.rendering.traces import consent_text
from repertoire.verbs.verb import Context

if TYPE_CHECKING:
    from repertoire.app.projects.review import Sighting
    from repertoire.app.traces.contribute import Contribution

_ATTEMPTS = 6
Lesson = Union[lessons.Lesson, solving.Proposal, "Sighting"]  # what a hook taught beside its events


class Writes(Opened):
    """Writes what tools and hooks change, through a connection of its own."""

    def __init__(self, environment: Mapping[str, str], *, started: str) -> None:
        super().__init__(environment)
        self._started = started

    def drain(self, taught: Sequence[Lesson] = ()) -> None:
        """Move the events of the spool into the log, and store what a hook taught, if the home can be written."""
        store, settings = self.repertoire.store, self.repertoire.settings
        if store.read_only:
            return

        def keep() -> None:
            for lesson in taught:
                if isinstance(lesson, solving.Proposal):
                    solving.keep(store, lesson)
                elif isinstance(lesson, lessons.Lesson):
                    lessons.learn(store, lesson, settings)
                else:
                    keep_sighting(self.repertoire, lesson)

        missed = partial(lessons.learn_missed, store, settings=settings, before=self._started)
        _patiently(lambda: take_in(store, keep if taught else None, learn=missed))
        if self.faults:  # the half-life may not be the one that was meant
            return
        with suppress(StoreBusy):  # the next writer does it
            compact_when_due(store, half_life=settings.memory_days)

    def begin(self) -> None:
        """Load the shipped catalogue into an empty graph, so that no question waits for the first ingest."""
        from repertoire.app.upkeep.first_run import fill_new_home  # noqa: PLC0415 - once in a home's life

        fill_new_home(self.repertoire)

    def tool(self, name: str, arguments: Mapping[str, Any], session: str) -> Reply:
        """Answer a tool that writes, called by a session."""
        self.require_settings()
        from repertoire.mcp_server.calls import CALLS  # noqa: PLC0415 - hooks write much earlier than tools do

        call = CALLS[name]
        context = Context.of(self.repertoire, project=arguments.get("project", ""), session=session)
        refused = self._refused(arguments)
        done = refused or call.verb.run(context, call.question(arguments))
        return Reply(call.verb.text(done), call.verb.data(done), self._consent(done, again=refused is not None))

    def _refused(self, arguments: Mapping[str, Any]) -> Contribution | None:
        """Return the draft that is to be confirmed if its problem was refused once, and a person can be asked again.

        Else a model would keep by its token what its person just said no to.
        """
        if not arguments.get(ASKS) or arguments.get("discard"):
            return None
        from repertoire.app.traces.contribute import Contribution, was_refused  # noqa: PLC0415 - as above

        token = arguments["token"].strip()
        found = self.repertoire.store.traces.of_token(token)
        return Contribution(found, token) if found and was_refused(self.repertoire.store, found) else None

    def _consent(self, done: object, *, again: bool) -> Consent | None:
        """Return the form that asks whether to keep a draft; None for other answers, and for a problem once refused.

        That is asked `again` only where its draft is to be confirmed.
        """
        from repertoire.app.traces.contribute import Contribution, was_refused  # noqa: PLC0415 - as above

        if not isinstance(done, Contribution) or not done.token:
            return None
        if not again and was_refused(self.repertoire.store, done.trace):
            return None
        return Consent(done.token, consent_text(done.trace))


def _patiently(write: Callable[[], object]) -> None:
    """Write even if an ingest holds the lock for longer than one wait."""
    for _ in range(_ATTEMPTS - 1):
        with suppress(StoreBusy):
            write()
            return
    write()
