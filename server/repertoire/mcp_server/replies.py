"""Makes replies of answers: their text, and the data that fit the tools' output schemas."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from repertoire.app.explain import Explanation
from repertoire.app.status import Status
from repertoire.domain.answer import Answer, Combination, Hit, Item, Other, Recommendation, Unit
from repertoire.domain.text import clean_line, to_copy
from repertoire.mcp_server.reply import Reply
from repertoire.ports import Link
from repertoire.rendering.answers import answer_text, note_lines, recommendation_text, why_text
from repertoire.rendering.explanations import explanation_text
from repertoire.rendering.flags import description_of, flag_lines
from repertoire.rendering.reports import status_text
from repertoire.retrieval.neighbourhood import Neighbourhood


def answer_reply(answer: Answer) -> Reply:
    """Return a ranked list as text and data."""
    return Reply(
        answer_text(answer),
        {
            "fits": answer.fits,
            "confidence": round(answer.confidence, 4),
            "components": [hit_data(hit) for hit in answer.hits],
            "combinations": [_combination_data(one) for one in answer.combinations],
            "companions": [_other_data(other) for other in answer.companions],
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
            "why_not": [_other_data(other) for other in recommendation.why_not],
            "companions": [_other_data(other) for other in recommendation.companions],
            "combinations": [_combination_data(one) for one in recommendation.combinations],
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
        },
    )


def explanation_reply(explanation: Explanation) -> Reply:
    """Return an explanation as text and data."""
    component, standing = explanation.stored.component, explanation.standing
    return Reply(
        explanation_text(explanation),
        {
            "id": component.id,
            "name": clean_line(component.name, 80),
            "type": component.type,
            "installed": component.installed,
            "description": description_of(component, 1000),
            "flags": flag_lines(component.flags),
            "provides": _names(explanation.provides),
            "needs": _names(explanation.needs),
            "goes_with": [
                *_names(explanation.goes_with),
                *(clean_line(other.component.name, 80) for other in explanation.companions),
            ],
            "install": list(to_copy(component.install)),
            "client": component.client,
            "brings": _unit_data(explanation.unit),
            "rank": standing.rank if standing is not None else None,
            "whys": [why_text(why) for why in standing.hit.whys] if standing and standing.hit else [],
            "lacking": [clean_line(c.text, 200) for c in explanation.conditions.values() if c.met is False],
            **({"graph": _graph_data(explanation.graph)} if explanation.graph is not None else {}),
        },
    )


def _graph_data(graph: Neighbourhood) -> dict[str, Any]:
    return {
        "nodes": [
            {"id": node.key, "name": clean_line(node.name, 80), "type": node.type, "weight": round(node.weight, 4)}
            for node in graph.nodes
        ],
        "edges": [
            {"source": edge.source, "target": edge.target, "relation": edge.relation, "weight": edge.weight}
            for edge in graph.edges
        ],
    }


def status_reply(status: Status) -> Reply:
    """Return the state as text and the few numbers that a program may watch."""
    text = status_text(status)
    data = {
        "version": status.version,
        "home": status.home,
        "components": status.counts.get("components", 0),
        "sources": len(status.sources),
        "text": text,
    }
    return Reply(text, data)


def hit_data(hit: Hit, *, role: str = "") -> dict[str, Any]:
    """Return a hit as data; what a stranger wrote is as clean as in the text."""
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
        "brings": _unit_data(hit.unit),
    }


def _unit_data(unit: Unit | None) -> dict[str, Any] | None:
    if unit is None:
        return None
    return {"unit": clean_line(unit.name, 160), "counts": dict(unit.counts), "tokens": unit.tokens}


def _item_data(item: Item) -> dict[str, Any]:
    return {
        **hit_data(item.hit, role=item.role),
        "tokens": item.tokens,
        "lacking": [clean_line(lack, 200) for lack in item.lacking],
        "alternatives": [_other_data(other) for other in item.alternatives],
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


def _names(links: Sequence[Link]) -> list[str]:
    return [clean_line(link.other_name, 80) for link in links]
