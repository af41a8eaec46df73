"""Records votes on traces; of each voter the latest vote on a trace counts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from repertoire.app.clock import today
from repertoire.app.traces.cache import TraceCache
from repertoire.app.traces.fields import environment_of, redacted
from repertoire.app.traces.naming import trace_named
from repertoire.domain.errors import InvalidRequest
from repertoire.domain.event import VOTED, Event, Moment
from repertoire.domain.text import clean_line
from repertoire.domain.trace import COMPLAINTS, DRAFT, ME, NOTE, Trace, Trust


@dataclass(frozen=True)
class NewVote:
    """A vote on a trace, with the reason."""

    trace: str
    up: bool
    tag: str = ""
    note: str = ""
    environment: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class VoteResult:
    """The trace that was voted on, and its trust after the vote."""

    trace: Trace
    up: bool
    trust: Trust
    turned: int = 0  # 1 where the voter was not for the trace before, -1 where the voter was and is no longer


def check_tag(verdict: NewVote) -> None:
    """Check the tag of a vote.

    Raises:
        InvalidRequest: it is none of COMPLAINTS, or the vote is for the trace.
    """
    if verdict.tag and (verdict.tag not in COMPLAINTS or verdict.up):
        message = f"a vote against a trace may bear one of {', '.join(COMPLAINTS)}; a vote for it none"
        raise InvalidRequest(message)


def vote(kept: TraceCache, verdict: NewVote, *, moment: Moment, voter: str = ME) -> VoteResult:
    """Record a vote, which replaces the voter's former vote on the same trace.

    Raises:
        UnknownComponent: there is no such trace.
        InvalidRequest: it is a draft, or the tag is none of COMPLAINTS.
    """
    trace = trace_named(kept.store, verdict.trace)
    if trace.status == DRAFT:
        message = f"{trace.key} is a draft; confirm it before anybody votes on it"
        raise InvalidRequest(message)
    check_tag(verdict)
    note = clean_line(redacted(verdict.note, moment.project), NOTE)
    environment = environment_of(verdict.environment)
    said = {"voter": voter, "up": verdict.up, "tag": verdict.tag, "note": note, "environment": environment}
    told = kept.store.events.of_node(trace.key, kinds=(VOTED,))
    own = next((one for one in told if one.data.get("voter") == voter), None)
    before = own is not None and bool(own.data.get("up"))
    at = max(moment.at, own.at) if own is not None else moment.at  # or the old one counts after a clock was set back
    kept.store.events.append([Event(at, VOTED, moment.session, moment.project, node=trace.key, data=said)])
    return VoteResult(trace, verdict.up, kept.trust(trace, today()), int(verdict.up) - int(before))
