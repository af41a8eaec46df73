"""Lists what this home is going to send: one's own confirmed traces and votes since it joined, unless withheld."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from typing import Any

from repertoire.app.commons.membership import BEFORE, SENT, Membership
from repertoire.app.traces.exchange import line_fields
from repertoire.app.traces.fields import amends_in_the_same_words
from repertoire.app.traces.naming import trace_named
from repertoire.domain.trace import DRAFT, ME, Trace, Vote
from repertoire.store.database import Store
from repertoire.traces.trust import latest

_SENT_FIELDS = "title context solution tags environment outcome uses review_after watch licence supersedes".split()


@dataclass(frozen=True)
class Waiting:
    """A trace or a vote that waits to be sent: exactly the body that the commons gets; `vote` is empty for a trace."""

    name: str  # in `Membership.sent`
    trace: str
    title: str
    body: Mapping[str, Any]
    vote: str = ""  # up or down
    state: str = SENT  # what is remembered once it is sent


def outbox(store: Store, membership: Membership) -> list[Waiting]:
    """Return what waits to be sent, the oldest first, traces before votes."""
    traces = store.traces.all()
    kept_here = _kept_here(traces, membership)
    mine = _in_order([trace for trace in traces if _is_unsent(trace, membership) and trace.key not in kept_here])
    known = {trace.key for trace in mine} | membership.there()
    titles = {trace.key: trace.title for trace in traces}
    votes = [vote for vote in latest(store.traces.votes()) if vote.voter == ME]
    return [
        *(Waiting(trace.key, trace.key, trace.title, _body(trace, known)) for trace in mine),
        *(
            _vote(vote, titles[vote.trace])
            for vote in votes
            if vote.trace in titles
            and vote.trace not in kept_here
            and membership.sent.get(f"vote:{vote.trace}") not in (_state(vote), f"{BEFORE} {_state(vote)}")
        ),
    ]


def sent_before_joining(store: Store) -> dict[str, str]:
    """Return the entries of `Membership.sent` for all traces and votes from before joining, which are never sent."""
    mine = (trace.key for trace in store.traces.all() if trace.author == ME and trace.status != DRAFT)
    votes = (vote for vote in latest(store.traces.votes()) if vote.voter == ME)
    return dict.fromkeys(mine, BEFORE) | {f"vote:{vote.trace}": f"{BEFORE} {_state(vote)}" for vote in votes}


def withhold(store: Store, membership: Membership, name: str) -> str:
    """Keep a trace, what amends it and one's votes on it out of the outbox; return its key.

    Raises:
        UnknownComponent: there is no such trace.
    """
    trace = trace_named(store, name)
    if trace.key not in membership.withheld:
        membership.withheld.append(trace.key)
    return trace.key


def _in_order(traces: Sequence[Trace]) -> list[Trace]:
    """Return traces with the oldest first, and each after the one that it amends, whatever the clock said."""
    by_key, ordered = {trace.key: trace for trace in traces}, dict[str, Trace]()
    for trace in sorted(traces, key=lambda trace: (trace.at, trace.version, trace.key)):
        chain = [trace]
        while (before := by_key.get(chain[-1].supersedes)) is not None and before not in chain:
            chain.append(before)
        ordered.update((one.key, one) for one in reversed(chain) if one.key not in ordered)
    return list(ordered.values())


def _kept_here(traces: Sequence[Trace], membership: Membership) -> set[str]:
    """Return the keys of withheld traces, and of what amends them: it says nearly the same."""
    kept = {*membership.withheld}
    while more := {trace.key for trace in traces if trace.supersedes in kept and trace.key not in kept}:
        kept |= more
    return kept


def _is_unsent(trace: Trace, membership: Membership) -> bool:
    return trace.author == ME and trace.status != DRAFT and trace.key not in membership.sent


def _body(trace: Trace, known: AbstractSet[str]) -> dict[str, Any]:
    """Return what is sent of a trace; `known` to the commons by then is what the member sent, and what goes before it.

    Where it has the words of what it amends, its key is made of that one's, which says no more than the words do.
    """
    told = line_fields(trace)
    body = {name: told[name] for name in _SENT_FIELDS if name in told}
    if trace.supersedes not in known and not amends_in_the_same_words(trace):
        body.pop("supersedes", None)
    return body


def _vote(vote: Vote, title: str) -> Waiting:
    said = "up" if vote.up else "down"
    body = {"vote": said, "tag": vote.tag, "note": vote.note, "environment": dict(vote.environment)}
    return Waiting(f"vote:{vote.trace}", vote.trace, title, body, said, _state(vote))


def _state(vote: Vote) -> str:
    return f"{vote.at} {'up' if vote.up else 'down'}"
