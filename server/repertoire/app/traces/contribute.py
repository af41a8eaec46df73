"""Contributes a trace in two steps, a redacted draft and its confirmation: nothing is stored without consent."""

from __future__ import annotations

import secrets
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import timedelta

from repertoire.app.clock import ago, today
from repertoire.app.clock import now as time_now
from repertoire.app.lookup import find_one_component
from repertoire.app.traces.fields import TraceFields, amending, fields_to_amend, says_the_same, trace_of
from repertoire.app.traces.naming import trace_named
from repertoire.domain.component import CAPABILITY
from repertoire.domain.errors import InvalidRequest, UnknownComponent
from repertoire.domain.event import CONTRIBUTED, PROPOSED, Event, Moment
from repertoire.domain.text import clean_line
from repertoire.domain.trace import ACTIVE, DRAFT, SIGNATURE, SUPERSEDED, Trace
from repertoire.store.database import Store
from repertoire.traces.ageing import expired

_DRAFTS = timedelta(days=7)  # after which nobody is going to confirm one
_PROPOSED = 500  # newest proposals whose problems are not proposed again
_TOKEN = 4  # random bytes: a draft is found by it, nothing is protected by it
_KEY = f"{SIGNATURE}:key:"


@dataclass(frozen=True)
class Contribution:
    """A draft and the token that confirms it; without a token, a stored trace."""

    trace: Trace
    token: str = ""
    known: bool = False  # it was kept before, in the same words


def _nowhere(_name: str) -> str:
    return ""


def draft(
    store: Store,
    told: TraceFields,
    *,
    moment: Moment,
    token: str = "",
    in_project: Callable[[str], str] = _nowhere,
) -> Contribution:
    """Store a trace as a draft that no search finds until it is confirmed; a known trace is returned as it is.

    `in_project` returns the key of a file, symbol or section of the project by its name, or nothing.

    Raises:
        InvalidRequest: a part of it is missing, its day of review has come, or several components have a name that it
            used.
        UnknownComponent: it amends a trace that there is not, or used what nothing is called.
    """
    told = replace(told, uses=_resolved(store, told, in_project))
    trace = trace_of(told, project=moment.project, session=moment.session, now=moment.at)
    before = trace_named(store, trace.supersedes) if told.supersedes else None
    kept = before if before is not None and says_the_same(trace, before) else store.traces.get(trace.key)
    if kept is not None and kept.status != DRAFT:
        return Contribution(kept, known=True)
    if expired(trace, today()):
        message = (
            f"the day of review {trace.review_after} has come: no answer would name the trace; send a later day or none"
        )
        raise InvalidRequest(message)
    if before is not None:
        trace = amending(trace, before)
    drop_old_drafts(store)
    token = token or secrets.token_hex(_TOKEN)
    store.traces.put(trace, token=token, now=moment.at)
    return Contribution(trace, token)


def confirm(store: Store, token: str, *, now: str) -> Contribution:
    """Make the draft of a token a trace that searches find; its vectors are computed by the next search.

    Raises:
        InvalidRequest: no draft has this token, or what it amends was amended meanwhile.
    """
    found = store.traces.of_token(token.strip())
    if found is None:
        message = f"no draft has the token {clean_line(token, 40)!r}; tell the trace again, its draft shows the token"
        raise InvalidRequest(message)
    kept = replace(found, status=ACTIVE, at=now)
    with store.transaction():
        _check_latest(store, kept)  # within the transaction: another session may confirm at the same time
        store.traces.put(kept, now=now)
        told = Event(now, CONTRIBUTED, kept.session, kept.project, node=kept.key, data={"author": kept.author})
        store.events.append([told])
    return Contribution(kept)


def discard(store: Store, token: str) -> Contribution:
    """Delete the draft of a token, also in the backup, and never propose its problem again.

    Raises:
        InvalidRequest: no draft has this token.
        StoreError: it is deleted, and the backup could not be written.
    """
    found = store.traces.of_token(token.strip())
    if found is None:
        message = f"no draft has the token {clean_line(token, 40)!r}; there is nothing to discard"
        raise InvalidRequest(message)
    errors = [key.removeprefix(_KEY) for key in found.signatures if key.startswith(_KEY)]
    data = {"errors": errors, "refused": True}
    with store.transaction():
        store.traces.drop(found.key)
        if not _refused(store).issuperset(errors):
            store.events.append([Event(time_now(), PROPOSED, found.session, found.project, data=data)])
    store.backup.write(now=time_now())
    return Contribution(found, known=True)


def drop_old_drafts(store: Store) -> None:
    """Delete the drafts that nobody confirmed in time; one from the future was made before the clock was put back."""
    store.traces.drop_drafts(before=ago(_DRAFTS), after=ago(-_DRAFTS))


def proposed_before(store: Store) -> frozenset[str]:
    """Return the error keys of problems that were proposed before, or whose draft was discarded."""
    events = store.events.recent(kinds=(PROPOSED,), limit=_PROPOSED)
    return frozenset(str(key) for event in events for key in event.data.get("errors", ()))


def was_refused(store: Store, trace: Trace) -> bool:
    """Tell whether somebody discarded a draft about one of a trace's errors."""
    return any(f"{_KEY}{key}" in trace.signatures for key in _refused(store))


def _refused(store: Store) -> frozenset[str]:
    events = store.events.recent(kinds=(PROPOSED,), limit=_PROPOSED)
    return frozenset(str(key) for event in events if event.data.get("refused") for key in event.data["errors"])


def _resolved(store: Store, told: TraceFields, in_project: Callable[[str], str]) -> tuple[str, ...]:
    """Resolve what a trace used to keys; an amended trace keeps keys that are unknown here."""
    before = store.traces.get(told.supersedes) if told.supersedes else None
    kept = before.uses if before is not None else ()
    return tuple(_resolve(store, use, kept, in_project) for use in told.uses if use.strip())


def _resolve(store: Store, use: str, kept: tuple[str, ...], in_project: Callable[[str], str]) -> str:
    if use in kept or use.startswith(f"{CAPABILITY}:"):
        return use
    try:
        return find_one_component(store, use.strip()).component.id
    except UnknownComponent:
        if key := in_project(use.strip()):
            return key
        raise


def _check_latest(store: Store, trace: Trace) -> None:
    """Raise InvalidRequest if another draft that amends the same trace was confirmed before this one."""
    if trace.supersedes and store.traces.state(trace.supersedes) == SUPERSEDED:
        by = store.traces.replacing(trace.supersedes)
        message = f"{trace.supersedes} was amended by {by} meanwhile, so this draft is not kept; amend {by} instead"
        raise InvalidRequest(message)


def amended(store: Store, key: str, changes: dict[str, object]) -> TraceFields:
    """Return the fields of a trace with some of them changed.

    Raises:
        UnknownComponent: there is no such trace.
        InvalidRequest: nothing is changed.
    """
    before = trace_named(store, key)
    if not changes:
        message = f"nothing is changed of {before.key}; send what is new, such as its solution"
        raise InvalidRequest(message)
    return replace(fields_to_amend(before), **changes)  # type: ignore[arg-type]  # the verb's own fields
