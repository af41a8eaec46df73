"""What a session has seen and is doing, folded from its events: pure, so that any process sees the same."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from repertoire.domain.event import ASKED, CHECKED, CLOSED, COMPACTED, OFFERED, SELECTED


class SessionEvent(Protocol):
    """What is read of an event."""

    @property
    def kind(self) -> str:
        """What happened."""

    @property
    def request(self) -> str:
        """The request it belongs to."""

    @property
    def node(self) -> str:
        """The component it is about."""

    @property
    def data(self) -> Mapping[str, Any]:
        """The rest."""


@dataclass(frozen=True)
class SessionState:
    """What must not be offered again, and the request that is open."""

    seen: frozenset[str] = frozenset()  # offered since the last compaction, or used at any time
    request: str = ""  # key of the open request
    prompt: str = ""  # what was kept of its text
    selected: frozenset[str] = frozenset()  # what the open request has selected
    offered: frozenset[str] = frozenset()  # what was offered for it
    checked: bool = False  # whether a check passed since the last of these
    answers: bool = False  # whether what is said next answers a question


def replay(events: Iterable[SessionEvent]) -> SessionState:
    """Fold a session's events, oldest first."""
    offered: set[str] = set()
    used: set[str] = set()
    request, prompt = "", ""
    selected: set[str] = set()
    open_to: set[str] = set()
    checked = answers = False
    for event in events:
        if event.kind == OFFERED:
            offered.add(event.node)
            if event.request and event.request == request:
                open_to.add(event.node)
        elif event.kind == COMPACTED:
            offered.clear()
        elif event.kind == SELECTED:
            used.add(event.node)
            if event.request == request:
                selected.add(event.node)
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
    return SessionState(seen, request, prompt, frozenset(selected), frozenset(open_to), checked, answers)
