"""Renders what a pack says about some words: facts with citations, entities, and how these are related."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from repertoire.domain.text import clean_line
from repertoire.rendering.packs import UNTRUSTED, pack_data, pack_text, section_data, section_text

if TYPE_CHECKING:  # other answers render no pack
    from repertoire.app.packs.describe import PackDescription
    from repertoire.domain.pack import StatedFact

_FACT, _NAME, _LINE = 420, 80, 240


def description_text(found: PackDescription) -> str:
    """Render a pack, and below it what was asked for as somebody's words."""
    if found.section is not None:
        return section_text(found.section)
    lines = [pack_text(found.manifest)]
    if found.about and not found.facts and not found.entities:
        lines.append(
            f"No fact about {clean_line(found.about, _NAME)} was found by rules, which know English; "
            "query_pack searches the text."
        )
    if found.facts or found.entities:
        lines.append(UNTRUSTED)
    lines += [f"- {_said(fact)} [{clean_line(fact.citation, _LINE)}]" for fact in found.facts]
    lines += [
        f"entity: {_named(one.name)} ({_named(one.kind)}) {clean_line(one.description, _LINE)}"
        for one in found.entities
    ]
    lines += [f"relation: {_named(one.source)} {_named(one.relation)} {_named(one.target)}" for one in found.relations]
    return "\n".join(line.rstrip() for line in lines)


def description_data(found: PackDescription) -> dict[str, Any]:
    """Return a pack, and what was asked for, as a JSON object."""
    return {
        **pack_data(found.manifest),
        **section_data(found.section),
        "facts": [
            {
                "kind": clean_line(fact.kind, _NAME),
                "subject": _named(fact.subject),
                "text": clean_line(fact.text, _FACT),
                "citation": clean_line(fact.citation, _LINE),
            }
            for fact in found.facts
        ],
        "entities": [
            {
                "name": _named(one.name),
                "kind": clean_line(one.kind, _NAME),
                "description": clean_line(one.description, _LINE),
            }
            for one in found.entities
        ],
        "relations": [
            {
                "source": _named(one.source),
                "relation": clean_line(one.relation, _NAME),
                "target": _named(one.target),
                "context": clean_line(one.context, _LINE),
            }
            for one in found.relations
        ],
    }


def _said(fact: StatedFact) -> str:
    about = _named(fact.subject or fact.title)  # without a subject, the heading says what a sentence is about
    subject = f" of {about}" if about else ""
    return f"{clean_line(fact.kind, _NAME)}{subject}: {clean_line(fact.text, _FACT)}"


def _named(name: str) -> str:
    return clean_line(name, _NAME)
