"""Keeps a trace in two steps, so that nothing is kept without consent: a redacted draft is shown, then confirmed."""

from __future__ import annotations

import secrets
from dataclasses import dataclass, replace
from datetime import timedelta

from repertoire.app.clock import ago
from repertoire.app.traces.naming import trace_named
from repertoire.app.traces.telling import Told, trace_of
from repertoire.domain.errors import InvalidRequest
from repertoire.domain.event import CONTRIBUTED, Event, Moment
from repertoire.domain.text import clean_line
from repertoire.domain.trace import ACTIVE, DRAFT, SUPERSEDED, Trace
from repertoire.store.database import Store

_DRAFTS = timedelta(days=7)  # after which nobody is going to confirm one
_TOKEN = 4  # random bytes: a draft is found by it, nothing is protected by it


@dataclass(frozen=True)
class Contribution:
    """A draft and what confirms it; or, without a token, a trace that is kept."""

    trace: Trace
    token: str = ""
    known: bool = False  # it was kept before, in the same words


def draft(store: Store, told: Told, *, moment: Moment, token: str = "") -> Contribution:
    """Keep what was told as a draft that nobody finds until it is confirmed; the same words again are no new trace.

    Raises:
        InvalidRequest: a part of it is missing.
        UnknownComponent: it amends a trace that there is not.
    """
    trace = trace_of(told, project=moment.project, session=moment.session, now=moment.at)
    kept = store.traces.get(trace.key)
    if kept is not None and kept.status != DRAFT:
        return Contribution(kept, known=True)
    if told.supersedes:
        trace = _amending(store, trace)
    store.traces.drop_drafts(before=ago(_DRAFTS))
    token = token or secrets.token_hex(_TOKEN)
    store.traces.put(trace, token=token, now=moment.at)
    return Contribution(trace, token)


def confirm(store: Store, token: str, *, now: str) -> Contribution:
    """Keep the draft that a token stands for; from then on it is found. Its vectors come with the next search.

    Raises:
        InvalidRequest: no draft has this token.
    """
    found = store.traces.of_token(token.strip())
    if found is None:
        message = f"no draft has the token {clean_line(token, 40)!r}; tell the trace again, its draft shows the token"
        raise InvalidRequest(message)
    kept = replace(found, status=ACTIVE, at=now)
    with store.transaction():
        store.traces.put(kept, now=now)
        told = Event(now, CONTRIBUTED, kept.session, kept.project, node=kept.key, data={"author": kept.author})
        store.events.append([told])
    return Contribution(kept)


def discard(store: Store, token: str) -> Contribution:
    """Delete the draft that a token stands for.

    Raises:
        InvalidRequest: no draft has this token.
    """
    found = store.traces.of_token(token.strip())
    if found is None:
        message = f"no draft has the token {clean_line(token, 40)!r}; there is nothing to discard"
        raise InvalidRequest(message)
    store.traces.drop(found.key)
    return Contribution(found, known=True)


def _amending(store: Store, trace: Trace) -> Trace:
    before = trace_named(store, trace.supersedes)
    if before.status == SUPERSEDED:
        message = f"{before.key} was amended already; amend the trace that superseded it"
        raise InvalidRequest(message)
    return replace(trace, supersedes=before.key, version=before.version + 1)


def amended(store: Store, key: str, changes: dict[str, object]) -> Told:
    """Return a trace as it would be told with some parts changed.

    Raises:
        UnknownComponent: there is no such trace.
        InvalidRequest: nothing is changed.
    """
    before = trace_named(store, key)
    if not changes:
        message = f"nothing is changed of {before.key}; send what is new, such as its solution"
        raise InvalidRequest(message)
    told = Told(
        before.title,
        before.context,
        before.solution,
        before.tags,
        before.environment,
        outcome=before.outcome,
        uses=before.uses,
        review_after=before.review_after,
        watch=before.watch,
        licence=before.licence,
        supersedes=before.key,
    )
    return replace(told, **changes)  # type: ignore[arg-type]  # the verb's own fields
