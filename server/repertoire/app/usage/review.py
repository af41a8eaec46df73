"""Turns suggestions from use into edges: strong evidence is applied, weak evidence waits for a person's decision.

Edges are computed from the log and the decisions in it, so deleting the log deletes them too.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from repertoire.app.clock import now
from repertoire.app.usage.usage_cache import known_trials
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
    found = {
        suggestion.id: suggestion for suggestion in [*_decided_suggestions(decided), *suggestions(known_trials(store))]
    }
    known = [suggestion for suggestion in found.values() if _known(store, suggestion)]
    judged = [_judge(suggestion, decided) for suggestion in known]
    return tuple(
        sorted(
            judged,
            key=lambda suggestion: (
                suggestion.state != WAITING,
                suggestion.state != APPLIED,
                -suggestion.weight,
                suggestion.id,
            ),
        )
    )


def renew_learned(store: Store) -> int:
    """Replace the graph's learned edges by the presently applied ones; return how many there are."""
    held = [suggestion for suggestion in review(store) if suggestion.state == APPLIED]
    edges = [
        Edge(suggestion.first, suggestion.second, suggestion.relation, suggestion.weight, f"use: {suggestion.evidence}")
        for suggestion in held
    ]
    store.sources.set_edges(edges, now=now(), file=LABEL)
    return len(edges)


def decide(store: Store, ids: Sequence[str], decision: str) -> tuple[ReviewedSuggestion, ...]:
    """Accept or reject suggestions by id, or withdraw a decision; a rejected edge is deleted and stays away.

    Raises:
        InvalidRequest: no suggestion has such an id.
    """
    by_id = {suggestion.id: suggestion for suggestion in review(store)}
    unknown = [suggestion for suggestion in ids if suggestion not in by_id]
    if unknown:
        message = f"no suggestion is called {', '.join(unknown)}; `repertoire review` lists them with their ids"
        raise InvalidRequest(message)
    at = now()
    with store.transaction():
        store.events.append([_decision(by_id[suggestion], decision, at) for suggestion in dict.fromkeys(ids)])
        renew_learned(store)
    wanted = set(ids)
    return tuple(suggestion for suggestion in review(store) if suggestion.id in wanted)


def _decision(suggestion: ReviewedSuggestion, decision: str, at: str) -> Event:
    data = {
        "with": suggestion.second,
        "relation": suggestion.relation,
        "decision": decision,
        "weight": suggestion.weight,
        "evidence": suggestion.evidence,
    }
    return Event(at, REVIEWED, node=suggestion.first, data=data)


def _decided(store: Store) -> dict[str, Event]:
    """Return the last decision on each suggestion, without withdrawn decisions."""
    last: dict[str, Event] = {}
    for event in store.events.latest((REVIEWED,), limit=_DECISIONS):
        last[suggestion_id(event.node, str(event.data["with"]), str(event.data["relation"]))] = event
    return {key: event for key, event in last.items() if event.data["decision"] != UNDECIDED}


def _decided_suggestions(decided: dict[str, Event]) -> list[Suggestion]:
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


def _known(store: Store, suggestion: Suggestion) -> bool:
    return all(store.graph.by_key(end) is not None for end in (suggestion.first, suggestion.second))


def _judge(suggestion: Suggestion, decided: dict[str, Event]) -> ReviewedSuggestion:
    event = decided.get(suggestion.id)
    decision = event.data["decision"] if event is not None else UNDECIDED
    state = {ACCEPTED: APPLIED, REJECTED: REJECTED}.get(decision, APPLIED if suggestion.strong else WAITING)
    by = "a person" if event is not None else "its evidence" if suggestion.strong else ""
    return ReviewedSuggestion(
        suggestion.id,
        suggestion.first,
        suggestion.second,
        suggestion.relation,
        suggestion.weight,
        suggestion.strong,
        suggestion.evidence,
        state,
        by,
    )
