"""Resolves a trace's key, or the beginning of one, to the trace."""

from __future__ import annotations

from repertoire.domain.errors import UnknownComponent
from repertoire.domain.text import clean_line
from repertoire.domain.trace import TRACE, Trace
from repertoire.store.database import Store

_LEAST = 4  # characters of a beginning


def trace_named(store: Store, asked: str) -> Trace:
    """Return the trace with this key (with or without `trace:`) or beginning of a key, or the draft with this token.

    Raises:
        UnknownComponent: no trace has it, or several begin so.
    """
    key = f"{TRACE}:{asked.strip().removeprefix(f'{TRACE}:')}"
    found = store.traces.get(key) or store.traces.of_token(asked.strip())
    near = store.traces.beginning(key) if found is None and len(key) >= len(TRACE) + 1 + _LEAST else []
    if found is None and len(near) == 1:
        found = store.traces.get(near[0])
    if found is None:
        hint = f"it may be {', '.join(near)}" if near else "`repertoire trace search`, or search_traces, finds one"
        message = f"there is no trace {clean_line(asked, 80)!r}; {hint}"
        raise UnknownComponent(message)
    return found
