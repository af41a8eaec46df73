"""Returns the part of the graph around a recommendation: its members, its runners-up, and the nodes that link them."""

from __future__ import annotations

from repertoire.domain.answer import Recommendation
from repertoire.retrieval.neighbourhood import Neighbourhood, neighbourhood
from repertoire.retrieval.pipeline import Pipeline

_ASIDE = 0.1  # start weight of a runner-up in the graph walk, where a member of the set has 1


def recommendation_graph(pipeline: Pipeline, answer: Recommendation) -> Neighbourhood:
    """Return the part of the graph around an answer; an empty one for an empty answer."""
    snapshot = pipeline.snapshot()
    start: dict[int, float] = {}
    shares = [(item.hit, 1.0) for item in answer.items] + [(hit, _ASIDE) for hit in answer.near]
    for hit, share in shares:
        position = snapshot.position_of.get(hit.component.id)  # none if the component was ingested after this snapshot
        if position is not None:
            start.setdefault(position, share)
    return neighbourhood(snapshot, start)
