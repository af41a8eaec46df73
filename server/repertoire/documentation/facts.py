"""Finds entities and facts in a document by rules: definitions, symbols, defaults, notes on versions, requirements."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from repertoire.documentation.fact_patterns import (
    BEFORE,
    CALL,
    CALLED,
    DANGLES,
    DEFAULTS,
    EXTENSION,
    INSTEAD,
    MARKED,
    MARKUP,
    MUST,
    NAMED_DEFAULT,
    NEEDS,
    NO_VALUE,
    NOT_NEEDED,
    OPTION_ITEM,
    OUTDATED,
    OWN_DEFAULT,
    POINTS,
    PRONOUNS,
    SINCE,
    TERM,
)
from repertoire.documentation.sentences import ITEM, PROSE, ROW, sentences_of, units_of
from repertoire.domain.pack import (
    API,
    CONCEPT,
    DEFAULT,
    DEFINITION,
    EXTENDS,
    OPTION,
    OPTION_OF,
    REPLACED_BY,
    REQUIREMENT,
    REQUIRES,
    SOFTWARE,
    SYMBOL,
    VERSION,
    EntityRelation,
    PackArticle,
    PackEntity,
    PackFact,
    PackKnowledge,
    PackSection,
)
from repertoire.domain.text import clean_line

_Span = tuple[int, int]  # a range of characters in the text of a section
_LONGEST, _SHORTEST = 400, 12  # characters of a fact
_NAME, _DESCRIPTION = 80, 240  # characters
_LEADING_ELSEWHERE = (
    *("See ", "In ", "On ", "As ", "Extends:"),
    *("Siehe ", "Voir ", "Véase ", "Ver ", "Vedi ", "Veja ", "См. "),  # what a symbol does is told in any language
)
_MOST_FACTS, _MOST_ENTITIES, _MOST_RELATIONS = 300, 200, 200  # of a document


@dataclass
class _Found:
    """What was found in a document so far."""

    entities: dict[str, PackEntity] = field(default_factory=dict)
    facts: dict[tuple[int, int], PackFact] = field(default_factory=dict)  # by section and begin: the first rule wins
    relations: dict[tuple[str, str, str], EntityRelation] = field(default_factory=dict)

    def entity(self, name: str, kind: str, description: str = "") -> str:
        """Take in an entity and return its name; empty where it is none, or there are too many."""
        name = clean_line(name, _NAME).strip("`*_[] ")
        if not name or (name not in self.entities and len(self.entities) >= _MOST_ENTITIES):
            return ""
        held = self.entities.setdefault(name, PackEntity(name, kind))
        if description and not held.description:
            self.entities[name] = replace(held, description=clean_line(_plain(description), _DESCRIPTION))
        return name

    def relate(self, source: str, relation: str, target: str, context: str) -> None:
        """Take in a relation between two entities with the words that say so."""
        key = (source, relation, target)
        if (
            source
            and target
            and source != target
            and key not in self.relations
            and len(self.relations) < _MOST_RELATIONS
        ):
            self.relations[key] = EntityRelation(source, target, relation, clean_line(_plain(context), _DESCRIPTION))


@dataclass(frozen=True)
class _Place:
    """The section that is read: its position, its text, and the entity that its headings name (perhaps none)."""

    number: int
    section: PackSection
    owner: str

    def words(self, begin: int, end: int) -> str:
        return self.section.text[begin:end]


def find_knowledge(article: PackArticle) -> PackKnowledge:
    """Return the entities, facts and relations in a document; the same document gives the same ones, within bounds."""
    found = _Found()
    owners: dict[int, str] = {}
    for number, section in enumerate(article.sections):
        owners = {level: name for level, name in owners.items() if level < section.level}
        own = _symbol(section)
        name = found.entity(own, _kind_of(own)) if own else ""
        if name:
            owners[section.level] = name
        above = name or (owners[max(owners)] if owners else "")
        _read_section(_Place(number, section, above), found, is_symbol=bool(name))
    return PackKnowledge(
        tuple(found.entities.values()),
        tuple(sorted(found.facts.values(), key=lambda fact: (fact.section, fact.begin))),
        tuple(found.relations.values()),
    )


def _symbol(section: PackSection) -> str:
    """Return the symbol that a heading names in code, without its arguments; empty if it names none."""
    heading = section.text.partition("\n")[0] if section.anchor else ""
    marked = MARKED.search(heading)
    rest = heading.replace(marked[0], "").strip("# \t*_:") if marked else ""
    call = CALL.match(marked[1].strip()) if marked else None
    return call[1] if call and len(rest.split()) <= 2 else ""


def _kind_of(name: str) -> str:
    return OPTION if name.startswith("-") else API


def _read_section(place: _Place, found: _Found, *, is_symbol: bool) -> None:
    text, header, fresh = place.section.text, list[str](), True
    for unit in units_of(text):
        if len(found.facts) >= _MOST_FACTS:
            return
        words = text[unit.begin : unit.end]
        if unit.sort == ROW:
            header = _row(place, unit.begin, words, header, found)
            continue
        header = []
        if unit.sort == ITEM and _item(place, unit.begin, words, found):
            fresh = False
            continue
        for begin, end in sentences_of(text, unit):
            _sentence(place, (begin, end), found, opening=fresh and unit.sort == PROSE, is_symbol=is_symbol)
            fresh = False


def _item(place: _Place, begin: int, words: str, found: _Found) -> bool:
    """Read a list item that describes an option with its default, or the default of the symbol in the heading."""
    value = DEFAULTS.search(words)
    if value is None:
        return False
    if OWN_DEFAULT.match(words):
        if not place.owner:
            return False
        _add(place, found, DEFAULT, (begin, begin + len(words)), place.owner)
        return True
    named = OPTION_ITEM.match(words)
    if named is None or named[1].lower().lstrip("-") in ("default", "defaults", *PRONOUNS):
        return False
    name = found.entity(named[1], OPTION)
    _add(place, found, DEFAULT, (begin, begin + len(words)), name)
    if place.owner:
        found.relate(name, OPTION_OF, place.owner, words)
    return True


def _row(place: _Place, begin: int, words: str, header: list[str], found: _Found) -> list[str]:
    """Read a row of a table that has a column of defaults; return the header of the table."""
    cells = [cell.strip() for cell in words.strip().lstrip("> ").strip("|").replace("\\|", " ").split("|")]
    if not header:
        return [cell.strip("*` ").lower() for cell in cells]
    column = next((at for at, name in enumerate(header) if name in ("default", "defaults", "default value")), 0)
    if not column or column >= len(cells) or cells[column].strip("`* ").lower() in NO_VALUE:
        return header
    marked = MARKED.search(cells[0])
    name = (marked[1] if marked else cells[0]).strip("* ")
    if not name or set(name) <= set("-: ") or len(name.split()) > 3:
        return header
    entity = found.entity(name, OPTION)
    _add(place, found, DEFAULT, (begin, begin + len(words)), entity)
    if place.owner:
        found.relate(entity, OPTION_OF, place.owner, words)
    return header


def _sentence(place: _Place, span: _Span, found: _Found, *, opening: bool, is_symbol: bool) -> None:
    words = place.words(*span)
    if any(rule(place, span, words, found) for rule in (_extends, _default, _version, _requirement)):
        return
    if _definition(place, span, words, found, opening=opening):
        return
    if opening and is_symbol and _tells(words):
        found.entity(place.owner, _kind_of(place.owner), words)
        _add(place, found, SYMBOL, span, place.owner)


def _tells(words: str) -> bool:
    """Tell whether the first sentence below a symbol says what it does: no list follows, and it leads nowhere else."""
    whole = words.endswith((".", ".)")) and len(words.split()) >= 4
    return (
        whole
        and not words.startswith(_LEADING_ELSEWHERE)
        and not DANGLES.search(words.removeprefix("This ").removeprefix("It "))
    )


def _extends(place: _Place, span: _Span, words: str, found: _Found) -> bool:
    match = EXTENSION.match(words)
    subject = (place.owner or found.entity(place.section.title.rpartition(":")[2], API)) if match else ""
    if match is None or not subject:
        return False
    found.relate(subject, EXTENDS, found.entity(_bare(match[1]), API), words)
    _add(place, found, DEFINITION, span, subject)
    return True


def _default(place: _Place, span: _Span, words: str, found: _Found) -> bool:
    match = NAMED_DEFAULT.match(words)
    if match is None:
        return False
    _add(place, found, DEFAULT, span, found.entity(match[1] or match[2], OPTION))
    return True


def _version(place: _Place, span: _Span, words: str, found: _Found) -> bool:
    if SINCE.search(words) is None or words.startswith("Before "):
        return False
    if not place.owner and DANGLES.search(words):
        return False
    subject = place.owner
    if OUTDATED.search(words) and (instead := INSTEAD.search(words)) and subject:
        found.relate(subject, REPLACED_BY, found.entity(_bare(instead[1]), API), words)
    _add(place, found, VERSION, span, subject)
    return True


def _requirement(place: _Place, span: _Span, words: str, found: _Found) -> bool:
    match = NEEDS.search(words)
    if match is None and MUST.search(words) is None:
        return False
    subject = place.owner
    if NOT_NEEDED.search(words) or words.endswith("?") or POINTS.search(words) or DANGLES.search(words):
        return False
    if match is not None:
        before = BEFORE.match(words[: match.start()].strip())
        if before:
            subject = found.entity(_bare(before[1] or before[2]), API)
        if match[1] or match[2]:
            needed = found.entity(_bare(match[1] or match[2]), API if match[1] else SOFTWARE)
            found.relate(subject, REQUIRES, needed, words)
    _add(place, found, REQUIREMENT, span, subject)
    return True


def _called(place: _Place, span: _Span, words: str, found: _Found) -> bool:
    match = CALLED.search(words)
    if match is None or DANGLES.search(words) or POINTS.search(words[: match.start()]):
        return False
    name = next(group for group in match.groups() if group)
    if name.lower() in PRONOUNS:
        return False
    _add(place, found, DEFINITION, span, found.entity(name, CONCEPT, words))
    return True


def _definition(place: _Place, span: _Span, words: str, found: _Found, *, opening: bool) -> bool:
    match = TERM.match(words)
    if match is None:
        return _called(place, span, words, found)
    *marked, code, plain = match.groups()
    name = next((group for group in marked if group), None) or code or plain
    if not code and (inner := MARKED.search(name)):
        code = name = inner[1]
    whole = words.endswith((".", ".)", ".*", '."')) and not POINTS.search(words)
    named = not plain or (opening and _names(place.section.title, plain))
    if not whole or not named or {name.lower(), *name.lower().split()[:1]} & PRONOUNS:
        return False
    _add(place, found, DEFINITION, span, found.entity(_bare(name) if code else name, API if code else CONCEPT, words))
    return True


def _names(title: str, term: str) -> bool:
    """Tell whether a heading names a term: each word of the term stands in it, in singular or plural."""
    said = {_stem(word) for word in title.replace("`", " ").split()}
    return {_stem(word) for word in term.split()} <= said


def _stem(word: str) -> str:
    return word.lower().strip(".,:;()*_").removesuffix("s")


def _bare(code: str) -> str:
    """Return the name in a piece of code, without arguments; the code itself where it is no name."""
    call = CALL.match(code.strip())
    return call[1] if call else code


def _add(place: _Place, found: _Found, kind: str, span: _Span, subject: str) -> None:
    begin, end = span
    end = min(end, begin + _LONGEST)
    if end - begin >= _SHORTEST:
        found.facts.setdefault((place.number, begin), PackFact(place.number, kind, begin, end, subject))


def _plain(words: str) -> str:
    """Return words without the markup of links and of strong text."""
    return MARKUP.sub(lambda match: match[1] or match[2] or "", words)
