"""The event of the log, and the one table of all event kinds."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

ASKED, OFFERED, SELECTED, FAILED, OUTCOME = "asked", "offered", "selected", "failed", "outcome"
CHECKED, UNDONE, CORRECTED, CLOSED, COMPACTED = "checked", "undone", "corrected", "closed", "compacted"
COUNTED, DISMISSED, REVIEWED, GAP = "counted", "dismissed", "reviewed", "gap"
UNREAD, REREAD, MOVED, RESCUED = "unread", "reread", "moved", "rescued"
CONTRIBUTED, VOTED, SHOWN, TAKEN, PROPOSED = "contributed", "voted", "shown", "taken", "proposed"
HELD, MEMORY_OFFERED, TAKEN_BACK, LEFT = "held", "memory_offered", "taken_back", "left"
OK, BAD, UNKNOWN = "ok", "failed", "unknown"
OUTCOMES = (OK, BAD, UNKNOWN)
SAYINGS = (*OUTCOMES, DISMISSED)  # feedback that a person may give; DISMISSED means "not wanted here", no outcome


@dataclass(frozen=True)
class EventKind:
    """One kind of event: its name, its meaning, and who reads it.

    `of_session`: such an event belongs to a session, and old ones are replaced by counts; `learned`: learning reads it.
    `lasting`: each of them stays, however many there are. `at_once`: the next answer of a running server counts it.
    """

    name: str
    means: str
    of_session: bool = False
    learned: bool = False
    lasting: bool = False
    at_once: bool = False


EVENT_KINDS = (
    EventKind(ASKED, "a person asked for something", of_session=True, learned=True),
    EventKind(OFFERED, "a component was suggested", of_session=True, learned=True),
    EventKind(SELECTED, "a component was used, or installed after it was suggested", of_session=True, learned=True),
    EventKind(FAILED, "the call of a component failed", of_session=True, learned=True, at_once=True),
    EventKind(OUTCOME, "somebody said how a use went", of_session=True, learned=True, at_once=True),
    EventKind(CHECKED, "a check passed", of_session=True, learned=True),
    EventKind(UNDONE, "an edit was undone", of_session=True, learned=True, at_once=True),
    EventKind(CORRECTED, "the next prompt corrected what was done", of_session=True, learned=True, at_once=True),
    EventKind(TAKEN_BACK, "an installation was undone", of_session=True, learned=True, at_once=True),
    EventKind(CLOSED, "a request came to its end", of_session=True),
    EventKind(COMPACTED, "the session forgot what was said before", of_session=True),
    EventKind(COUNTED, "what many old events of one component on one day come to", learned=True),
    EventKind(LEFT, "a component that the log tells of was removed: what it said, since a copy may stay or come"),
    EventKind(DISMISSED, "somebody does not want a component here"),
    EventKind(REVIEWED, "somebody judged what learning suggests"),
    EventKind(GAP, "a task needed what nothing provides"),
    EventKind(UNREAD, "a source could not be read"),
    EventKind(REREAD, "that source could be read again"),
    EventKind(MOVED, "a source is read from another address"),
    EventKind(RESCUED, "a damaged database was mended"),
    EventKind(CONTRIBUTED, "a trace was kept", lasting=True),
    EventKind(SHOWN, "a hint held a trace, or a fact on a failed command"),
    EventKind(TAKEN, "such a hint was used: the trace was read, the check passed, or something was changed"),
    EventKind(HELD, "a hint was held back: its moment, and why"),
    EventKind(PROPOSED, "keeping a hard-won solution was proposed, or refused"),
    EventKind(MEMORY_OFFERED, "a start told how the project's memory is begun", lasting=True),
    EventKind(VOTED, "somebody said whether a trace helped", lasting=True),
)
LEARNED_KINDS = tuple(kind.name for kind in EVENT_KINDS if kind.learned)
SESSION_KINDS = tuple(kind.name for kind in EVENT_KINDS if kind.of_session)
AT_ONCE_KINDS = tuple(kind.name for kind in EVENT_KINDS if kind.at_once)
LASTING_KINDS = tuple(kind.name for kind in EVENT_KINDS if kind.lasting)

# Of what a long log has many; a session start may run on Python 3.9, which has no slots.
SLOTTED: dict[str, bool] = {"slots": True} if sys.version_info >= (3, 10) else {}


@dataclass(frozen=True, **SLOTTED)
class Event:
    """One event of the log; `request` names the prompt that it belongs to, `node` the component."""

    at: str
    kind: str
    session: str = ""
    project: str = ""
    request: str = ""
    node: str = ""
    data: Mapping[str, Any] = field(default_factory=dict)
    id: int = 0


@dataclass(frozen=True)
class Moment:
    """When and where something happens."""

    at: str
    session: str
    project: str  # its folder
