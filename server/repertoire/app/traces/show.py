"""Shows one trace with its votes and its successor, and lists traces: the newest, and those that used a component."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from repertoire.app.clock import today
from repertoire.app.traces.cache import TraceCache
from repertoire.app.traces.naming import trace_named
from repertoire.domain.trace import ACTIVE, RatedTrace, Trace, Trust, Vote
from repertoire.traces.trust import latest

_MOST = 5  # traces that are named beside a component


@dataclass(frozen=True)
class ShownTrace:
    """One trace with its trust, the voters' latest votes, and the key of the trace that replaced it."""

    trace: Trace
    trust: Trust
    votes: tuple[Vote, ...] = ()
    superseded_by: str = ""


def show(kept: TraceCache, asked: str) -> ShownTrace:
    """Return the trace of a key, the beginning of a key or a draft's token, with its trust and votes.

    Raises:
        UnknownComponent: there is no such trace.
    """
    trace, day = trace_named(kept.store, asked), today()
    votes = latest(kept.votes(day).votes.get(trace.key, ()))
    return ShownTrace(trace, kept.trust(trace, day), votes[::-1], kept.store.traces.replacing(trace.key))


@dataclass(frozen=True)
class TraceListing:
    """The newest traces, and how many older ones there are."""

    traces: tuple[RatedTrace, ...]
    more: int = 0


def list_traces(kept: TraceCache, limit: int) -> TraceListing:
    """Return the traces that searches may find, the newest first, with how far to trust each."""
    day, found = today(), kept.store.traces.all(ACTIVE)[::-1]
    rated = tuple(RatedTrace(trace, kept.trust(trace, day)) for trace in found[:limit])
    return TraceListing(rated, len(found) - len(rated))


def solved_with(kept: TraceCache, keys: Iterable[str], *, muted: frozenset[str]) -> tuple[RatedTrace, ...]:
    """Return the active traces that used one of these components, the most trusted first."""
    day = today()
    found = [trace for trace in kept.store.traces.concerning(tuple(keys)) if trace.key not in muted]
    named = [RatedTrace(trace, kept.trust(trace, day)) for trace in found]
    return tuple(sorted(named, key=lambda one: (-one.trust.bound, one.trace.key))[:_MOST])
