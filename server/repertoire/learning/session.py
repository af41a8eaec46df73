"""Folds a session's events into its state, so that every process sees the same state."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from repertoire.domain.event import ASKED, CHECKED, CLOSED, COMPACTED, FAILED, OFFERED, SELECTED

_USES, _TURNS = frozenset((SELECTED, FAILED)), frozenset((ASKED, CLOSED))


class SessionEvent(Protocol):
    """The properties that a session's state needs of an event."""

    @property
    def kind(self) -> str:
        """The kind of the event, such as `offered`."""

    @property
    def request(self) -> str:
        """The key of the request it belongs to."""

    @property
    def node(self) -> str:
        """The id of the component it is about."""

    @property
    def data(self) -> Mapping[str, Any]:
        """Further fields, which depend on the kind."""


@dataclass(frozen=True)
class SessionState:
    """The state of a session: its open request, and the components that must not be offered again."""

    seen: frozenset[str] = frozenset()  # components offered since the client's last compaction, or used at any time
    request: str = ""  # key of the open request
    prompt: str = ""  # stored part of the open request's text
    selected: frozenset[str] = frozenset()  # what the open request selected; outside the graph a name
    offered: frozenset[str] = frozenset()  # components that were offered for the open request
    checked: bool = False  # whether a check passed since the last selection
    answers: bool = False  # whether the next prompt answers a question of the client
    failing: frozenset[str] = frozenset()  # of these selected components the last call failed
    suggested: frozenset[str] = frozenset()  # components offered at any time
    last: str = ""  # key of the last request, open or closed, if no work outside a request came after it
    last_prompt: str = ""  # stored part of its text
    using: bool = False  # whether the present turn used a component, with or without a request


def replay(events: Sequence[SessionEvent]) -> SessionState:
    """Return the state of a session after its events, given oldest first."""
    offered: set[str] = set()
    used: set[str] = set()
    request, prompt = "", ""
    selected: set[str] = set()
    open_to: set[str] = set()
    checked = answers = using = False
    for event in events:
        using = event.kind in _USES or (using and event.kind not in _TURNS)
        if event.kind == OFFERED:
            offered.add(event.node)
            if event.request and event.request == request:
                open_to.add(event.node)
        elif event.kind == COMPACTED:
            offered.clear()
        elif event.kind == SELECTED:
            used.add(event.node)
            if event.request == request:
                selected.add(_used(event))
                checked = False
        elif event.kind == CHECKED:
            checked = True
        elif event.kind == ASKED:
            request, prompt = event.request, str(event.data.get("prompt", ""))
            selected, open_to, checked, answers = set(), set(), False, False
        elif event.kind == CLOSED:
            request, prompt = "", ""
            selected, open_to, checked = set(), set(), False
            answers = bool(event.data.get("asks"))
    seen = frozenset(offered | used)
    failing = frozenset(selected & _failing(events, request))
    suggested = frozenset(event.node for event in events if event.kind == OFFERED)
    return SessionState(
        seen, request, prompt, frozenset(selected), frozenset(open_to), checked, answers, failing, suggested,
        *_last_asked(events), using,
    )  # fmt: skip


def _last_asked(events: Iterable[SessionEvent]) -> tuple[str, str]:
    last = "", ""
    for event in events:
        if event.kind == ASKED:
            last = event.request, str(event.data.get("prompt", ""))
        elif event.kind == SELECTED and not event.request:
            last = "", ""
    return last


def _failing(events: Iterable[SessionEvent], request: str) -> set[str]:
    calls = {_used(event): event.kind for event in events if event.kind in _USES and event.request == request}
    return {node for node, last in calls.items() if last == FAILED}


def _used(event: SessionEvent) -> str:
    return event.node or str(event.data.get("name", ""))
