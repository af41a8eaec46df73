"""What a tool answers: the text that is read, and the same as data for clients that compute with it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from repertoire.domain.answer import Answer, Hit, Item, Recommendation
from repertoire.domain.text import clean_line
from repertoire.rendering.answers import answer_text, recommendation_text, why_text


@dataclass(frozen=True)
class Reply:
    """One tool's answer."""

    text: str
    data: Mapping[str, Any] = field(default_factory=dict)


def message_reply(text: str) -> Reply:
    """Return a reply that is one message."""
    return Reply(text, {"message": text})


def answer_reply(answer: Answer) -> Reply:
    """Return a ranked list as text and data."""
    return Reply(
        answer_text(answer),
        {
            "fits": answer.fits,
            "confidence": round(answer.confidence, 4),
            "components": [hit_data(hit) for hit in answer.hits],
            "degraded": list(answer.degraded),
        },
    )


def recommendation_reply(recommendation: Recommendation) -> Reply:
    """Return a recommended set as text and data."""
    return Reply(
        recommendation_text(recommendation),
        {
            "items": [_item_data(item) for item in recommendation.items],
            "near": [hit_data(hit) for hit in recommendation.near],
            "gaps": list(recommendation.gaps),
            "install": list(recommendation.install),
            "warnings": list(recommendation.warnings),
            "confidence": round(recommendation.confidence, 4),
            "degraded": list(recommendation.degraded),
        },
    )


def hit_data(hit: Hit, *, role: str = "") -> dict[str, Any]:
    """Return a hit as data; what a stranger wrote is as clean as in the text."""
    component = hit.component
    return {
        "id": component.id,
        "name": clean_line(component.name, 80),
        "type": component.type,
        "installed": component.installed,
        "description": clean_line(component.description, 300),
        "score": round(hit.score, 6),
        "whys": [why_text(why) for why in hit.whys],
        "install": [clean_line(line, 300) for line in component.install],
        "role": clean_line(role, 200),
    }


def _item_data(item: Item) -> dict[str, Any]:
    return hit_data(item.hit, role=item.role)
