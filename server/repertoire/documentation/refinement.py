"""Reads what a person or a session's model added to the facts of a pack, and takes in what the documents really say."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace

from repertoire.documentation.schemas import value_in
from repertoire.domain.errors import PackRefused
from repertoire.domain.pack import (
    API,
    CONCEPT,
    EXTENDS,
    FACT_KINDS,
    OPTION,
    OPTION_OF,
    REPLACED_BY,
    REQUIRES,
    SOFTWARE,
    EntityRelation,
    PackArticle,
    PackEntity,
    PackFact,
    PackKnowledge,
    parts_of,
)
from repertoire.domain.text import clean_line

REFINEMENT_BYTES = 2_000_000  # of the largest refinement that is read
_LINES = 5_000
_TEXT, _NAME, _DESCRIPTION = 400, 80, 300  # characters of a fact, of a name, and of what a pack is about
ENTITY_KINDS = (API, OPTION, CONCEPT, SOFTWARE)
RELATIONS = (OPTION_OF, REQUIRES, EXTENDS, REPLACED_BY)
_KEYS: Mapping[str, tuple[str, ...]] = {
    "fact": ("at", "text", "kind", "subject"),
    "drop": ("at", "text"),
    "relation": ("at", "text", "source", "relation", "target"),
    "entity": ("name", "kind", "text"),
    "pack": ("text",),
}
_FORM = (
    '{"do": "fact", "at": "guide.md#soaking", "text": "words of that section", "kind": "definition", "subject": "rod"}'
)


@dataclass(frozen=True)
class Step:
    """One line of a refinement: what to do (`fact`, `drop`, `relation`, `entity`, `pack`), and its values."""

    line: int
    do: str
    values: Mapping[str, str]


def read_refinement(text: str, *, place: str) -> tuple[Step, ...]:
    """Return the steps of a refinement, one JSON object a line; `place` names it in errors.

    Raises:
        PackRefused: a line is no step.
    """
    return tuple(_steps(text, place))


def _steps(text: str, place: str) -> Iterator[Step]:
    for number, line in enumerate(text.splitlines()[:_LINES], 1):
        if not line.strip():
            continue
        value = value_in(line)
        keys = _KEYS.get(str(value.get("do"))) if isinstance(value, dict) else None
        if keys is None or not all(isinstance(value.get(key), str) and value[key].strip() for key in keys):
            message = f"line {number} of {clean_line(place, 200)} is no step of a refinement; write {_FORM}"
            raise PackRefused(message)
        yield Step(number, value["do"], {key: value[key].strip() for key in keys})


def refine(
    articles: tuple[PackArticle, ...], steps: tuple[Step, ...], objection: Callable[[str], str]
) -> tuple[tuple[PackArticle, ...], dict[str, str]]:
    """Return the articles with the steps taken, and why others were not, by line.

    A fact and a relation must quote their section; `objection` tells why a description is not kept (empty: it is).
    """
    held, left = {article.path: article for article in articles}, dict[str, str]()
    for step in steps:
        if step.do == "pack":
            continue
        at = step.values.get("at", "")
        path = (at if at in held else parts_of(at)[0]) if at else _speaks_of(held, step.values["name"])
        article = held.get(path)
        changed = _taken(article, step, objection) if article is not None else "the pack has no such document or entity"
        if isinstance(changed, str):
            left[f"refinement, line {step.line}"] = changed
        else:
            held[changed.path] = changed
    return tuple(held.values()), left


def description_in(steps: tuple[Step, ...], objection: Callable[[str], str]) -> tuple[str, dict[str, str]]:
    """Return what the last step that is taken says the pack is about (empty: none does), and why others were not."""
    found, left = "", dict[str, str]()
    for step in steps:
        if step.do == "pack" and (why := objection(step.values["text"])):
            left[f"refinement, line {step.line}"] = why
        elif step.do == "pack":
            found = clean_line(step.values["text"], _DESCRIPTION)
    return found, left


def _speaks_of(held: Mapping[str, PackArticle], name: str) -> str:
    """Return the first document that names an entity: its words are the ones that are kept."""
    spoken = (path for path, one in held.items() if any(entity.name == name for entity in one.knowledge.entities))
    return next(spoken, "")


def _taken(article: PackArticle, step: Step, objection: Callable[[str], str]) -> PackArticle | str:
    """Return the article with a step taken, or why it was not."""
    values, known = step.values, article.knowledge
    if step.do == "entity":
        refusal = objection(values["text"]) or ("" if values["kind"] in ENTITY_KINDS else _unknown(ENTITY_KINDS))
        described = PackEntity(values["name"], values["kind"], clean_line(values["text"], 240))
        kept = tuple(described if one.name == values["name"] else one for one in known.entities)
        return refusal or replace(article, knowledge=replace(known, entities=kept))
    anchor = "" if values["at"] == article.path else parts_of(values["at"])[1]
    spot = _quoted(article, anchor, values["text"])
    if spot is None:
        return f"{clean_line(values['at'], 120)} does not say these words"
    section, begin, end = spot
    if step.do == "drop":
        facts = tuple(one for one in known.facts if one.section != section or not begin <= one.begin < end)
        return (
            replace(article, knowledge=replace(known, facts=facts)) if facts != known.facts else "no fact begins there"
        )
    if step.do == "relation":
        return _related(article, values)
    if values["kind"] not in FACT_KINDS:
        return _unknown(FACT_KINDS)
    subject = clean_line(values["subject"], _NAME)
    fact = PackFact(section, values["kind"], begin, min(end, begin + _TEXT), subject)
    others = [one for one in known.facts if (one.section, one.begin) != (section, begin)]
    facts = tuple(sorted([*others, fact], key=lambda one: (one.section, one.begin)))
    return replace(article, knowledge=replace(_naming(known, subject), facts=facts))


def _related(article: PackArticle, values: Mapping[str, str]) -> PackArticle | str:
    if values["relation"] not in RELATIONS:
        return _unknown(RELATIONS)
    source, target = (clean_line(values[end], _NAME) for end in ("source", "target"))
    known = _naming(_naming(article.knowledge, source), target)
    made = EntityRelation(source, target, values["relation"], clean_line(values["text"], 240))
    return replace(article, knowledge=replace(known, relations=(*known.relations, made)))


def _naming(known: PackKnowledge, name: str) -> PackKnowledge:
    if any(one.name == name for one in known.entities):
        return known
    return replace(known, entities=(*known.entities, PackEntity(name, CONCEPT)))


def _quoted(article: PackArticle, anchor: str, words: str) -> tuple[int, int, int] | None:
    """Return the section and the range of characters that say these words, whatever the blanks between them."""
    wanted = re.compile(r"\s+".join(re.escape(word) for word in words[: 2 * _TEXT].split()))
    for number, section in enumerate(article.sections):
        found = wanted.search(section.text) if section.anchor == anchor else None
        if found is not None:
            return number, found.start(), found.end()
    return None


def _unknown(kinds: tuple[str, ...]) -> str:
    return f"its kind is none of {', '.join(kinds)}"
