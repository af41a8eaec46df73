"""Resolves a trace's key, or the beginning of one, to the trace."""

from __future__ import annotations

from repertoire.app.key_naming import Unknown, having_key
from repertoire.domain.trace import TRACE, Trace
from repertoire.store.database import Store

_UNKNOWN = Unknown("trace", "`repertoire trace search`, or search_traces, finds one")


def trace_named(store: Store, asked: str) -> Trace:
    """Return the trace with this key (with or without `trace:`) or beginning of a key, or the draft with this token.

    Raises:
        UnknownComponent: no trace has it, or several begin so.
    """

    def get(key: str) -> Trace | None:
        return store.traces.get(key) or store.traces.of_token(asked.strip())

    return having_key(TRACE, asked, get, store.traces.beginning, _UNKNOWN)
