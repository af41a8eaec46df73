"""What a commons does for a caller: contribute, amend, search, vote, flag, remove, and tell what changed."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace

from procrastinate import App

from repertoire.app.traces.fields import (
    TraceFields,
    amending,
    amends_in_the_same_words,
    environment_of,
    fields_to_amend,
    says_the_same,
    trace_of,
)
from repertoire.app.traces.search import TraceAnswer, TraceQuery, search_traces
from repertoire.app.traces.voting import NewVote, check_tag
from repertoire.commons import audit, clock
from repertoire.commons.database import Database
from repertoire.commons.errors import Conflict, NotAllowed
from repertoire.commons.gate import refuse_in, refuse_secrets
from repertoire.commons.jobs import defer
from repertoire.commons.keys import MODERATE, Caller
from repertoire.commons.limits import check_quotas
from repertoire.commons.models import Models
from repertoire.commons.reading import Caches, CommunityTraces
from repertoire.commons.traces import QUARANTINED, REMOVED, SEARCHED, Changes, Traces
from repertoire.commons.vectors import Held
from repertoire.domain.errors import InvalidRequest, UnknownComponent
from repertoire.domain.text import clean_line
from repertoire.domain.trace import ACTIVE, NOTE, TRACE, Trace, Trust, Vote
from repertoire.domain.trust import HIGH, rank, risk
from repertoire.ports import Embedder
from repertoire.traces.reputation import Reputation

FLAGS = 3  # members whose flags quarantine a trace until a moderator looks at it


@dataclass(frozen=True)
class Contributed:
    """A contribution as it is stored; `known`: the same words were there before, nothing changed."""

    trace: Trace
    known: bool


@dataclass(frozen=True)
class Shown:
    """A trace, how far to trust it, and whether it is found by its meaning yet."""

    trace: Trace
    trust: Trust
    embedded: bool


@dataclass(frozen=True)
class MemberReputation:
    """What a member's votes weigh in each domain (tag), from the votes of others on the member's traces."""

    member: str
    vouched: bool
    weights: Mapping[str, float]


class Commons:
    """The commons of all communities on one database; each call is of one caller's community."""

    def __init__(self, database: Database, jobs: App, models: Models) -> None:
        self._database, self._jobs, self._models = database, jobs, models
        self._caches = Caches()

    def contribute(self, caller: Caller, told: TraceFields) -> Contributed:
        """Store a trace, found by its words at once; its vectors come with a job of the same transaction.

        Raises:
            Refused: it holds a secret.
            InvalidRequest: a part is missing.
            Conflict: it amends what was amended already.
            NotAllowed: it amends another member's trace, or the community is full.
            TooManyRequests: the member's quota is used up.
        """
        with self._gate(caller):
            refuse_secrets(told)
        trace = trace_of(replace(told, author=caller.member), project="", session="", now="")
        state = QUARANTINED if risk(trace.flags) >= rank(HIGH) else ACTIVE
        with self._database.tenant(caller.community) as connection:
            traces = Traces(connection, caller.community)
            revision = traces.next_revision()
            before = _before(traces, caller, trace) if told.supersedes else None
            kept = before if before is not None and says_the_same(trace, before) else traces.get(trace.key)
            if kept is not None:
                return Contributed(kept, known=True)
            check_quotas(connection, caller)
            if before is not None:
                trace = _amending(trace, before)
                if before.status not in SEARCHED and amends_in_the_same_words(trace):
                    state = QUARANTINED  # its words are those that were withheld
                audit.record(connection, caller.community, caller, audit.AMENDED, trace.supersedes, reason=trace.key)
            trace = replace(trace, status=state, at=clock.now(connection))
            traces.put(trace, revision)
            if state == QUARANTINED:
                why = "the checks find it dangerous, or it has the words of one that is withheld"
                audit.record(connection, caller.community, caller, audit.QUARANTINED, trace.key, reason=why)
            defer(connection, self._jobs, caller.community, trace.key)
        return Contributed(trace, known=False)

    def search(self, caller: Caller, wanted: TraceQuery) -> TraceAnswer:
        """Return the traces that may solve a problem, ranked as a home ranks its own.

        Raises:
            InvalidRequest: nothing is asked.
        """
        with self._database.tenant(caller.community) as connection:
            cache = self._caches.of(caller.community)
            reader = CommunityTraces(connection, caller.community, cache)
            embedder = self._embedder_for(reader.held)
            found = search_traces(reader, wanted, embedder=embedder, day=reader.day)
            self._caches.keep(caller.community, cache)
        return replace(found, degraded=(_why_without(reader.held),)) if embedder is None and self._models else found

    def show(self, caller: Caller, name: str) -> Shown:
        """Return one trace.

        Raises:
            UnknownComponent: the community has no such trace.
        """
        with self._database.tenant(caller.community) as connection:
            traces = Traces(connection, caller.community)
            trace = _named(traces, name, caller)
            cache = self._caches.of(caller.community)
            rated = CommunityTraces(connection, caller.community, cache).trust(trace)
            self._caches.keep(caller.community, cache)
            return Shown(trace, rated, traces.is_embedded(trace.key))

    def fields_of(self, caller: Caller, name: str) -> TraceFields:
        """Return the fields of a trace, to be changed in an amended version.

        Raises:
            UnknownComponent: the community has no such trace.
        """
        with self._database.tenant(caller.community) as connection:
            return fields_to_amend(_named(Traces(connection, caller.community), name, caller, to_amend=True))

    def vote(self, caller: Caller, verdict: NewVote) -> Shown:
        """Store the caller's vote on a trace in place of the last one.

        Raises:
            UnknownComponent: the community has no such trace.
            InvalidRequest: the tag is none that a vote may bear.
            Refused: the note or the environment holds a secret.
        """
        check_tag(verdict)
        with self._gate(caller):
            refuse_in("note", verdict.note)
            refuse_in("environment", "\n".join(verdict.environment.values()))
        with self._database.tenant(caller.community) as connection:
            traces = Traces(connection, caller.community)
            trace = _named(traces, verdict.trace, caller)
            environment = environment_of(verdict.environment)
            note = clean_line(verdict.note, NOTE)
            vote = Vote(trace.key, caller.member, verdict.up, clock.now(connection), verdict.tag, note, environment)
            traces.vote(vote, traces.next_revision())
            # not kept: another process may count as many votes after this transaction fails
            reader = CommunityTraces(connection, caller.community, self._caches.of(caller.community))
            return Shown(trace, reader.trust(trace), traces.is_embedded(trace.key))

    def reputation(self, caller: Caller, member: str) -> MemberReputation:
        """Return what a member's votes weigh; a member without a record has no weights."""
        with self._database.tenant(caller.community) as connection:
            reader = CommunityTraces(connection, caller.community, self._caches.of(caller.community))
            weighed: Reputation = reader.votes(reader.day).reputation
        weights = {tag: weight for (whose, tag), weight in sorted(weighed.weights.items()) if whose == member}
        return MemberReputation(member, member in weighed.trusted, weights)

    def tags(self, caller: Caller) -> Mapping[str, int]:
        """Count the active traces of each tag."""
        with self._database.tenant(caller.community) as connection:
            return Traces(connection, caller.community).tags()

    def changes(self, caller: Caller, cursor: int, limit: int) -> Changes:
        """Return what changed in the community after a cursor."""
        with self._database.tenant(caller.community) as connection:
            return Traces(connection, caller.community).changes(cursor, limit)

    def audit(self, caller: Caller, after: int, limit: int) -> list[audit.AuditEntry]:
        """Return what was decided in the community after an entry of its audit log."""
        return audit.entries(self._database, caller.community, after=after, limit=limit)

    def flag(self, caller: Caller, name: str, reason: str) -> str:
        """Store that the caller finds a trace harmful; return its state, which FLAGS members make quarantined.

        Raises:
            UnknownComponent: the community has no such trace.
        """
        with self._gate(caller):
            refuse_in("reason", reason)
        with self._database.tenant(caller.community) as connection:
            traces = Traces(connection, caller.community)
            revision = traces.next_revision()
            trace = _named(traces, name, caller)
            flags = traces.flag(trace.key, caller.member, clean_line(reason, NOTE), clock.now(connection))
            if flags < FLAGS or trace.status != ACTIVE:
                return trace.status
            traces.withhold(trace.key, QUARANTINED, revision)
            audit.record(
                connection, caller.community, caller, audit.QUARANTINED, trace.key, reason=f"{flags} members flagged it"
            )
        return QUARANTINED

    def flagged(self, caller: Caller) -> list[tuple[Trace, list[tuple[str, str]]]]:
        """Return the traces that wait for a moderator."""
        with self._database.tenant(caller.community) as connection:
            return Traces(connection, caller.community).flagged()

    def moderate(self, caller: Caller, name: str, *, keep: bool) -> None:
        """Make a trace active again, or remove it: it is found no more, and installations drop it at their next sync.

        Raises:
            UnknownComponent: the community has no such trace.
        """
        with self._database.tenant(caller.community) as connection:
            traces = Traces(connection, caller.community)
            revision = traces.next_revision()
            trace = _named(traces, name, caller)
            if keep:
                traces.restore(trace.key, revision)
            else:
                traces.withhold(trace.key, REMOVED, revision)
            done = audit.RESTORED if keep else audit.REMOVED
            audit.record(connection, caller.community, caller, done, trace.key, reason=f"was {trace.status}")

    def _embedder_for(self, held: Held) -> Embedder | None:
        """Return the embedder of the first model of which this server has the weights and the community vectors."""
        return next(filter(None, map(self._models.named, held.readable)), None)

    def _gate(self, caller: Caller) -> AbstractContextManager[None]:
        return audit.refusals(self._database, caller.community, caller)


def _why_without(held: Held) -> str:
    if not held.model:
        return "no trace has vectors yet: found by words and errors alone"
    return f"this server lacks {held.model}, which made the vectors: found by words and errors alone"


def _named(traces: Traces, name: str, caller: Caller, *, to_amend: bool = False) -> Trace:
    """Return a trace; one that is withheld to moderators alone, and a quarantined one to its author, who may mend it.

    Raises:
        UnknownComponent: the community has no such trace.
    """
    key = f"{TRACE}:{name.removeprefix(f'{TRACE}:')}"
    trace = traces.get(key)
    own = to_amend and trace is not None and trace.status == QUARANTINED and trace.author == caller.member
    hidden = trace is not None and trace.status not in SEARCHED and MODERATE not in caller.scopes and not own
    if trace is None or hidden:
        message = f"there is no trace {clean_line(key, 80)!r} in this community"
        raise UnknownComponent(message)
    return trace


def _before(traces: Traces, caller: Caller, trace: Trace) -> Trace | None:
    """Return what a trace amends; None where that has the same words and was never sent here.

    Raises:
        UnknownComponent: the community has no such trace.
        NotAllowed: it is another member's.
    """
    if amends_in_the_same_words(trace) and traces.get(trace.supersedes) is None:
        return None
    before = _named(traces, trace.supersedes, caller, to_amend=True)
    if before.author != caller.member and MODERATE not in caller.scopes:
        message = (
            f"{before.key} was written by {before.author}; its author or a moderator amends it. Contribute your own"
        )
        raise NotAllowed(message)
    return before


def _amending(trace: Trace, before: Trace) -> Trace:
    try:
        return amending(trace, before)
    except InvalidRequest as error:  # its one reason: it was amended already
        raise Conflict(str(error)) from error
