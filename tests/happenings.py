"""Logs of what may happen in a few sessions, drawn at random."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from hypothesis import strategies as st

from repertoire.domain.event import (
    ASKED,
    CHECKED,
    CLOSED,
    COMPACTED,
    CORRECTED,
    FAILED,
    OFFERED,
    OUTCOME,
    SELECTED,
    TAKEN_BACK,
    UNDONE,
)

KINDS = (ASKED, *[OFFERED] * 3, SELECTED, FAILED, OUTCOME, CHECKED, UNDONE, CORRECTED, CLOSED, COMPACTED, TAKEN_BACK)


@dataclass(frozen=True)
class Happening:
    id: int
    at: str
    kind: str
    session: str = ""
    project: str = "/p"
    request: str = ""
    node: str = ""
    data: dict[str, Any] = field(default_factory=dict)


@st.composite
def logs(draw: st.DrawFn) -> list[Happening]:
    """Draw what may happen in a few sessions, one after the other and at once, over some days."""
    drawn = draw(
        st.lists(
            st.tuples(
                st.sampled_from(KINDS),
                st.sampled_from(("s1", "s2", "s3", "s4", "s5", "")),
                st.sampled_from(("a", "b", "c")),
                st.sampled_from(("/p", "/q")),
                st.integers(0, 30),
                st.sampled_from(("ok", "failed", "unknown")),
            ),
            max_size=60,
        )
    )
    log, hour, request = [], 0, dict.fromkeys(("s1", "s2", "s3", "s4", "s5"), "")
    for number, (kind, of, node, project, passed, outcome) in enumerate(drawn, 1):
        session = of or ("s1" if kind == ASKED else "")  # a prompt has one, an installation has none
        hour += passed
        at = f"2026-01-{1 + hour // 24 % 28:02}T{hour % 24:02}:00:00Z"
        if kind == ASKED:
            request[session] = f"r{number % 7}"
        named = {"rank": 1 + number % 3, "where": ("prompt", "session_start", "set")[number % 3], "type": "skill"}
        data = {OFFERED: named, OUTCOME: {"outcome": outcome}}.get(kind, {})
        if kind == SELECTED and passed > 28:
            session, data = "", {"how": "installed", "offer": number // 2}
        if kind == TAKEN_BACK:
            before = (event.at for event in log if event.node == node and event.data.get("how") == "installed")
            session, data = "", {"installed": next(before, "")}
        about = node if kind in (OFFERED, SELECTED, FAILED, OUTCOME, TAKEN_BACK) else ""
        log.append(Happening(number, at, kind, session, project, request.get(session, ""), about, data))
    return log
