"""Defines the verbs of traces: search, list, show, contribute in two steps, amend, vote, list tags."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from repertoire.app.clock import now
from repertoire.app.projects.credit import credit_outcome
from repertoire.app.projects.joined import link_trace, resolver
from repertoire.app.session.taken_hints import read_after_hint
from repertoire.app.traces.contribute import Contribution, amended, confirm, discard, draft
from repertoire.app.traces.fields import TraceFields
from repertoire.app.traces.search import TraceAnswer, TraceQuery, search_traces, worth_telling
from repertoire.app.traces.show import ShownTrace, TraceListing, list_traces, show
from repertoire.app.traces.voting import NewVote, VoteResult, vote
from repertoire.domain.errors import InvalidRequest
from repertoire.domain.event import Event
from repertoire.domain.trace import PLACES
from repertoire.rendering.traces import (
    contribution_data,
    contribution_text,
    found_data,
    found_text,
    listing_data,
    listing_text,
    tags_data,
    tags_text,
    trace_data,
    trace_text,
    voted_data,
    voted_text,
)
from repertoire.verbs.verb import Context, Verb


@dataclass(frozen=True)
class ContributeRequest:
    """A new trace; or the token of a draft to confirm or discard."""

    told: TraceFields | None = None
    token: str = ""
    discard: bool = False


@dataclass(frozen=True)
class AmendRequest:
    """A trace and its changed fields."""

    trace: str
    changes: Mapping[str, Any] = field(default_factory=dict)


def environment_from(pairs: tuple[str, ...]) -> dict[str, str]:
    """Parse an environment from texts such as `language=python 3.12`.

    Raises:
        InvalidRequest: a text has no name or no value.
    """
    found = {}
    for pair in pairs:
        place, sign, value = pair.partition("=")
        if not sign or place.strip() not in PLACES or not value.strip():
            message = f"{pair[:60]!r} says nothing of an environment; send PLACE=VALUE with one of {', '.join(PLACES)}"
            raise InvalidRequest(message)
        found[place.strip()] = value.strip()
    return found


def _search(context: Context, wanted: TraceQuery) -> TraceAnswer:
    repertoire = context.repertoire
    return worth_telling(search_traces(repertoire.traces, wanted, embedder=repertoire.embedder, muted=context.muted))


def _list(context: Context, limit: int) -> TraceListing:
    return list_traces(context.repertoire.traces, limit)


def _show(context: Context, asked: str) -> ShownTrace:
    return show(context.repertoire.traces, asked)


def _taken(context: Context, _asked: str, shown: ShownTrace) -> tuple[Event, ...]:
    return read_after_hint(context.repertoire.store, shown.trace.key, now=now())


def _contribute(context: Context, asked: ContributeRequest) -> Contribution:
    store = context.repertoire.store
    if asked.token and asked.discard:
        return discard(store, asked.token)
    if asked.token:
        done = confirm(store, asked.token, now=now())
        link_trace(context.repertoire.projects, done.trace.project or context.project, done.trace)
        return done
    if asked.told is None:
        message = "nothing is told; send title, context and solution, or the token that a draft showed"
        raise InvalidRequest(message)
    here = resolver(context.repertoire.projects, context.project)
    return draft(store, asked.told, moment=context.moment, in_project=here)


def _amend(context: Context, asked: AmendRequest) -> Contribution:
    store = context.repertoire.store
    here = resolver(context.repertoire.projects, context.project)
    changed = amended(store, asked.trace, dict(asked.changes))
    return draft(store, changed, moment=context.moment, in_project=here)


def _vote(context: Context, verdict: NewVote) -> VoteResult:
    voted = vote(context.repertoire.traces, verdict, moment=context.moment)
    folder = voted.trace.project or context.project
    credit_outcome(context.repertoire.projects, folder, [voted.trace.key], times=voted.turned)
    return voted


def _tags(context: Context, _question: None) -> Mapping[str, int]:
    return context.repertoire.store.traces.tags()


SEARCH_TRACES = Verb(_search, found_text, found_data)
LIST_TRACES = Verb(_list, listing_text, listing_data)
SHOW_TRACE = Verb(_show, trace_text, trace_data, _taken)
CONTRIBUTE = Verb(_contribute, contribution_text, contribution_data)
AMEND = Verb(_amend, contribution_text, contribution_data)
VOTE = Verb(_vote, voted_text, voted_data)
TAGS: Verb[None, Mapping[str, int]] = Verb(_tags, tags_text, tags_data)
