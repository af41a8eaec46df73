"""Finds the nodes that carried a recommendation: its members, what came near, and what ties them together."""

from __future__ import annotations

from repertoire.domain.answer import Recommendation
from repertoire.retrieval.neighbourhood import Neighbourhood, neighbourhood
from repertoire.retrieval.pipeline import Pipeline

_ASIDE = 0.1  # of a member's share, for what came near and is in no set


def carried(pipeline: Pipeline, answer: Recommendation) -> Neighbourhood:
    """Return the part of the graph around an answer; nothing where nothing was answered."""
    snapshot = pipeline.snapshot()
    start: dict[int, float] = {}
    shares = [(item.hit, 1.0) for item in answer.items] + [(hit, _ASIDE) for hit in answer.near]
    for hit, share in shares:
        position = snapshot.position_of.get(hit.component.id)  # none for what was read since
        if position is not None:
            start.setdefault(position, share)
    return neighbourhood(snapshot, start)
