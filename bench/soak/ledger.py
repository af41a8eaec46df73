"""Notes what was acknowledged to anybody while many processes use one file, and finds what of it the log lacks."""

from __future__ import annotations

import threading
from collections import Counter
from dataclasses import dataclass, field

from repertoire.domain.event import (
    ASKED,
    CLOSED,
    CONTRIBUTED,
    COUNTED,
    FAILED,
    OFFERED,
    OUTCOME,
    SELECTED,
    VOTED,
    Event,
)
from repertoire.learning.hints import SESSION_START
from repertoire.learning.outcomes import trials_of_count

Needed = tuple[str, str, str]  # kind, session, and what tells the event from others of the session


@dataclass
class Ledger:
    """What was acknowledged, and what was said that nobody should have to read."""

    needed: Counter[Needed] = field(default_factory=Counter)
    shown: Counter[str] = field(default_factory=Counter)  # by session: hints that were put before a model
    done: Counter[str] = field(default_factory=Counter)
    complaints: list[str] = field(default_factory=list)
    late: int = 0  # hooks that took longer than the server gives itself
    lock: threading.Lock = field(default_factory=threading.Lock)

    def need(self, kind: str, session: str, what: str = "") -> None:
        """Note what must be in the log."""
        with self.lock:
            self.needed[kind, session, what] += 1

    def did(self, what: str) -> None:
        """Count something that was done."""
        with self.lock:
            self.done[what] += 1

    def complain(self, text: str) -> None:
        """Note what a person or a model was told and should not have been."""
        with self.lock:
            self.complaints.append(text.strip()[-300:])


def not_once(ledger: Ledger, log: list[Event]) -> list[str]:
    """Return what was acknowledged and is not in the log as often as it was."""
    prompts = {event.request: str(event.data.get("prompt", "")) for event in log if event.kind == ASKED}
    found: Counter[Needed] = Counter()
    for event in log:
        prompt = prompts.get(event.request, "")
        what = {
            ASKED: prompt,
            SELECTED: f"{event.data.get('name')} {prompt}",
            FAILED: f"{event.data.get('name')} {prompt}",
            CLOSED: prompt,
            OUTCOME: str(event.data.get("note", "")),
            VOTED: str(event.data.get("note", "")),
            CONTRIBUTED: event.node,
        }.get(event.kind)
        if what is not None:
            found[event.kind, "" if event.kind in (OUTCOME, VOTED, CONTRIBUTED) else event.session, what] += 1
    greeted = {event.session for event in log if event.kind == OFFERED}
    hidden = [needed for needed in ledger.needed if needed[0] == OFFERED and needed[1] not in greeted]
    lost = [] if len(hidden) == _counted_greetings(log) else hidden
    lost += [needed for needed, times in ledger.needed.items() if needed[0] != OFFERED and found[needed] != times]
    return [f"{needed}: {found[needed]} of {ledger.needed[needed]}" for needed in lost]


def _counted_greetings(log: list[Event]) -> int:
    """Count the greetings whose events gave way to counts, as old ones do that led to nothing: they name no session."""
    counts = (event for event in log if event.kind == COUNTED)
    counted = (trial for one in counts for trial in trials_of_count(one.node, one.project, one.data))
    return sum(trial.moment == SESSION_START and trial.rank == 1 for trial in counted)


def unrecorded(ledger: Ledger, log: list[Event]) -> list[str]:
    """Return the hints that a model was shown and the log does not know of."""
    prompts = {event.request: str(event.data.get("prompt", "")) for event in log if event.kind == ASKED}
    offered = {f"{event.session}: {prompts.get(event.request)}" for event in log if event.kind == OFFERED}
    return [where for where in ledger.shown if where not in offered]
