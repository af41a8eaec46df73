"""Converts answers and sets to JSON objects for `--json` and MCP tools; keys do not depend on field names in code."""

from __future__ import annotations

from typing import Any

from repertoire.domain.answer import Answer, Combination, Hit, Item, Other, Recommendation, Unit
from repertoire.domain.text import clean_line, to_copy
from repertoire.rendering.answers import note_lines, why_text
from repertoire.rendering.flags import description_of, flag_lines


def answer_data(answer: Answer) -> dict[str, Any]:
    """Return a ranked list as a JSON object."""
    return {
        "fits": answer.fits,
        "confidence": round(answer.confidence, 4),
        "components": [hit_data(hit) for hit in answer.hits],
        "combinations": [_combination_data(one) for one in answer.combinations],
        "companions": [_other_data(other) for other in answer.companions],
        "degraded": list(answer.degraded),
    }


def recommendation_data(recommendation: Recommendation) -> dict[str, Any]:
    """Return a recommended set as a JSON object."""
    return {
        "items": [_item_data(item) for item in recommendation.items],
        "near": [hit_data(hit) for hit in recommendation.near],
        "why_not": [_other_data(other) for other in recommendation.why_not],
        "companions": [_other_data(other) for other in recommendation.companions],
        "combinations": [_combination_data(one) for one in recommendation.combinations],
        "facets": [{"name": one.name, "values": list(one.values)} for one in recommendation.facets],
        "gaps": list(recommendation.gaps),
        "install": list(to_copy(recommendation.install)),
        "dependencies": [
            {"member": one.member, "needs": clean_line(one.needs, 300), "kind": one.kind}
            for one in recommendation.dependencies
        ],
        "warnings": [clean_line(warning, 300) for warning in recommendation.warnings],
        "fits": recommendation.fits and bool(recommendation.items),
        "confidence": round(recommendation.confidence, 4),
        "degraded": list(recommendation.degraded),
    }


def hit_data(hit: Hit, *, role: str = "") -> dict[str, Any]:
    """Return a hit as a JSON object; an author's text is cleaned as in the rendered text."""
    component = hit.component
    return {
        "id": component.id,
        "name": clean_line(component.name, 80),
        "type": component.type,
        "installed": component.installed,
        "description": description_of(component, 300),
        "flags": flag_lines(component.flags),
        "notes": note_lines(hit),
        "score": round(hit.score, 6),
        "whys": [why_text(why) for why in hit.whys],
        "install": list(to_copy(component.install)),
        "role": clean_line(role, 200),
        "client": component.client,
        "brings": unit_data(hit.unit),
    }


def unit_data(unit: Unit | None) -> dict[str, Any] | None:
    """Return the plugin that an install line installs as a JSON object: name, components by type, tokens."""
    if unit is None:
        return None
    told = {"unit": clean_line(unit.name, 160), "counts": dict(unit.counts), "tokens": unit.tokens}
    return {**told, "whole": unit.whole}


def _item_data(item: Item) -> dict[str, Any]:
    return {
        **hit_data(item.hit, role=item.role),
        "tokens": item.tokens,
        "lacking": [clean_line(lack, 200) for lack in item.lacking],
        "alternatives": [_other_data(other) for other in item.alternatives],
        "spare": item.spare,
    }


def _other_data(other: Other) -> dict[str, str]:
    component = other.component
    return {
        "id": component.id,
        "name": clean_line(component.name, 80),
        "type": component.type,
        "reason": clean_line(other.reason, 200),
        "remedy": clean_line(other.remedy, 200),
    }


def _combination_data(combination: Combination) -> dict[str, Any]:
    return {
        "name": clean_line(combination.name, 200),
        "kind": combination.kind,
        "members": [{"id": one.id, "name": clean_line(one.name, 80), "type": one.type} for one in combination.members],
        "more": combination.more,
        "capabilities": [clean_line(term, 80) for term in combination.capabilities],
        "support": combination.support,
        "lift": round(combination.lift, 2),
        "seen": [clean_line(name, 80) for name in combination.seen],
    }
