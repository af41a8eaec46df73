"""Reads the arbiter's input from the log: hints shown in the session, their tokens, and which are rarely taken."""

from __future__ import annotations

from collections.abc import Iterable

from repertoire.app.kernel import Repertoire
from repertoire.app.session.spool import of_session
from repertoire.domain.event import COMPACTED, OFFERED, SHOWN, Event, Moment
from repertoire.learning.arbiter import COMPONENT_TOKENS, Occasion
from repertoire.learning.hints import FAILURE, PROMPT, SESSION_START
from repertoire.learning.trace_hints import KINDS, READ, trace_hints
from repertoire.learning.usage import Decay


def occasion_of(repertoire: Repertoire, moment: str, here: Moment, name: str) -> Occasion:
    """Return the arbiter's input for a moment of a session; `name` identifies the moment within the session."""
    store = repertoire.store
    seen, spent = shown_in(of_session(store, here.session) if here.session else ())
    clock = Decay(here.at, repertoire.settings.memory_days, here.project)
    rare = trace_hints(store.events.latest(KINDS, limit=READ), clock)
    demands, weary = dict(rare.demands(moment)), dict(rare.weary)
    if moment == PROMPT:
        demands, weary = {**repertoire.use.demands(), **demands}, {**repertoire.use.weary(), **weary}
    return Occasion(moment, f"{here.session}\0{name}", seen, spent, demands, weary)


def shown_in(events: Iterable[Event]) -> tuple[frozenset[str], int]:
    """Return the keys that a session saw in hints since it was compacted, and the tokens that all its hints cost.

    A trace whose title alone stood in the greeting may be shown whole when its error comes.
    """
    seen: set[str] = set()
    spent = 0
    for event in events:
        if event.kind == COMPACTED:
            seen.clear()
        elif event.kind == OFFERED:
            seen.add(event.node)
            spent += COMPONENT_TOKENS
        elif event.kind == SHOWN:
            spent += int(event.data.get("tokens", 0))
            if event.data.get("where", FAILURE) != SESSION_START:
                seen.add(event.node)
    return frozenset(seen), spent
