"""Turns suggestions from use into edges: strong evidence is applied, weak evidence waits for a person's decision.

Edges are computed from the log and the decisions in it, so deleting the log deletes them too.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from repertoire.app.clock import now
from repertoire.app.usage.fold import known_trials
from repertoire.domain.component import Edge
from repertoire.domain.errors import InvalidRequest
from repertoire.domain.event import REVIEWED, Event
from repertoire.learning.suggestions import Suggestion, suggestion_id, suggestions
from repertoire.store.database import Store

LABEL = "learned edges"  # label of the edges; labels that begin with `learned` are deleted with the log
ACCEPTED, REJECTED, UNDECIDED = "accepted", "rejected", "undecided"
APPLIED, WAITING = "applied", "waiting"
_DECISIONS = 5_000


@dataclass(frozen=True)
class ReviewedSuggestion:
    """A suggested edge and its state: applied, waiting or rejected; `by` names a person or the evidence."""

    id: str
    first: str
    second: str
    relation: str
    weight: float
    strong: bool
    evidence: str
    state: str
    by: str = ""


def review(store: Store) -> tuple[ReviewedSuggestion, ...]:
    """Return every edge that use suggests or a person decided on, waiting ones first; nothing is written."""
    decided = _decided(store)
    found = {one.id: one for one in [*_of_log(decided), *suggestions(known_trials(store))]}
    known = [one for one in found.values() if _known(store, one)]
    judged = [_judge(one, decided) for one in known]
    return tuple(sorted(judged, key=lambda one: (one.state != WAITING, one.state != APPLIED, -one.weight, one.id)))


def renew_learned(store: Store) -> int:
    """Replace the graph's learned edges by the presently applied ones; return how many there are."""
    held = [one for one in review(store) if one.state == APPLIED]
    edges = [Edge(one.first, one.second, one.relation, one.weight, f"use: {one.evidence}") for one in held]
    store.sources.set_edges(edges, now=now(), file=LABEL)
    return len(edges)


def decide(store: Store, ids: Sequence[str], decision: str) -> tuple[ReviewedSuggestion, ...]:
    """Accept or reject suggestions by id, or withdraw a decision; a rejected edge is deleted and stays away.

    Raises:
        InvalidRequest: no suggestion has such an id.
    """
    by_id = {one.id: one for one in review(store)}
    unknown = [one for one in ids if one not in by_id]
    if unknown:
        message = f"no suggestion is called {', '.join(unknown)}; `repertoire review` lists them with their ids"
        raise InvalidRequest(message)
    at = now()
    with store.transaction():
        store.events.append([_decision(by_id[one], decision, at) for one in dict.fromkeys(ids)])
        renew_learned(store)
    wanted = set(ids)
    return tuple(one for one in review(store) if one.id in wanted)


def _decision(one: ReviewedSuggestion, decision: str, at: str) -> Event:
    data = {
        "with": one.second,
        "relation": one.relation,
        "decision": decision,
        "weight": one.weight,
        "evidence": one.evidence,
    }
    return Event(at, REVIEWED, node=one.first, data=data)


def _decided(store: Store) -> dict[str, Event]:
    """Return the last decision on each suggestion, without withdrawn decisions."""
    last: dict[str, Event] = {}
    for event in store.events.latest((REVIEWED,), limit=_DECISIONS):
        last[suggestion_id(event.node, str(event.data["with"]), str(event.data["relation"]))] = event
    return {key: event for key, event in last.items() if event.data["decision"] != UNDECIDED}


def _of_log(decided: dict[str, Event]) -> list[Suggestion]:
    """Return the decided suggestions with the evidence of that time, since a decision outlives its evidence."""
    return [
        Suggestion(
            event.node,
            str(event.data["with"]),
            str(event.data["relation"]),
            float(event.data["weight"]),
            strong=False,
            evidence=str(event.data["evidence"]),
        )
        for event in decided.values()
    ]


def _known(store: Store, one: Suggestion) -> bool:
    return all(store.graph.by_key(end) is not None for end in (one.first, one.second))


def _judge(one: Suggestion, decided: dict[str, Event]) -> ReviewedSuggestion:
    event = decided.get(one.id)
    decision = event.data["decision"] if event is not None else UNDECIDED
    state = {ACCEPTED: APPLIED, REJECTED: REJECTED}.get(decision, APPLIED if one.strong else WAITING)
    by = "a person" if event is not None else "its evidence" if one.strong else ""
    return ReviewedSuggestion(
        one.id, one.first, one.second, one.relation, one.weight, one.strong, one.evidence, state, by
    )
