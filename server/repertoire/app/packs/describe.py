"""Describes a pack: its manifest, a section of it, and what its documents say about some words, as cited facts."""

from __future__ import annotations

from dataclasses import dataclass

from repertoire.app.packs.shelf import PackShelf
from repertoire.documentation.manifest import PackManifest
from repertoire.domain.errors import UnknownSection
from repertoire.domain.pack import FACT_KINDS, SECTIONS, EntityRelation, PackEntity, PackPassage, StatedFact
from repertoire.domain.text import clean_line, content_words, with_pairs
from repertoire.retrieval.translation import words_asked

_FIELDS = (2.0, 1.0, 1.0)  # BM25 weights of heading, headings above it, and text
_SECTIONS, _FACTS, _NAMED, _WORDS = 60, 2_000, 10, 24  # that are looked at: sections, facts, entities, words
_FAR = 100_000_000  # the largest offset into a section that SQLite is asked for: no section is so long
_LIKELY = {kind: place for place, kind in enumerate(FACT_KINDS)}  # of equally good facts, a definition comes first


@dataclass(frozen=True)
class PackDescriptionRequest:
    """A pack to describe; with words, also what it says about them; with a citation, also that section.

    Words that are a citation are taken as one.
    """

    name: str
    about: str = ""
    limit: int = 10
    citation: str = ""
    offset: int = 0  # characters of the section that are passed over


@dataclass(frozen=True)
class PackDescription:
    """The manifest of a pack, and the section, facts, entities and relations that were asked for."""

    manifest: PackManifest
    section: PackPassage | None = None
    about: str = ""
    facts: tuple[StatedFact, ...] = ()
    entities: tuple[PackEntity, ...] = ()
    relations: tuple[EntityRelation, ...] = ()


def describe_pack(shelf: PackShelf, wanted: PackDescriptionRequest) -> PackDescription:
    """Return a pack's manifest; also a section, or the facts that hold most of some words and the entities they name.

    Raises:
        PackRefused: there is no such pack or section, or it cannot be opened.
        StoreError: its database cannot be opened.
    """
    manifest = shelf.manifest(wanted.name)
    if wanted.citation:
        return PackDescription(manifest, _section(shelf, manifest, wanted.citation, wanted.offset))
    cited = _found_section(shelf, manifest, wanted.about, wanted.offset) if wanted.about else None
    words = words_asked(wanted.about)[:_WORDS]
    if cited is not None or not words:
        return PackDescription(manifest, cited)
    pack = shelf.open(wanted.name, manifest.model)
    with pack.store.guarded():
        found = [one for one, _ in pack.store.graph.match(words, limit=_SECTIONS, weights=_FIELDS, view=SECTIONS)]
        facts = _best(pack.store.knowledge.facts(found, limit=_FACTS), words)[: wanted.limit]
        named = (*wanted.about.split(), *(fact.subject for fact in facts if fact.subject))
        entities = pack.store.knowledge.entities(named, limit=_NAMED)
        relations = pack.store.knowledge.relations([one.name for one in entities], limit=wanted.limit)
    return PackDescription(manifest, None, wanted.about, tuple(facts), tuple(entities), tuple(relations))


def _found_section(shelf: PackShelf, manifest: PackManifest, citation: str, offset: int) -> PackPassage | None:
    pack = shelf.open(manifest.name, manifest.model)
    with pack.store.guarded():
        node_id = pack.store.section_at(citation)
        return pack.store.passages({node_id: None}, start=min(offset, _FAR))[node_id] if node_id is not None else None


def _section(shelf: PackShelf, manifest: PackManifest, citation: str, offset: int) -> PackPassage:
    found = _found_section(shelf, manifest, citation, offset)
    if found is not None:
        return found
    message = (
        f"pack {manifest.name} has no section {clean_line(citation, 200)!r}; "
        "a citation is article#anchor, as query_pack, or `repertoire pack query` in a shell, gives it"
    )
    raise UnknownSection(message)


def _best(facts: list[StatedFact], words: list[str]) -> list[StatedFact]:
    """Return facts with any of the words in subject or text: those with most of them first, then by their sections."""
    asked = frozenset(words)
    counted = []
    for place, fact in enumerate(facts):
        subject = len(asked.intersection(content_words(with_pairs(fact.subject))))
        told = len(asked.intersection(content_words(with_pairs(f"{fact.subject} {fact.title} {fact.text}"))))
        if told:
            counted.append((-told - subject, _LIKELY[fact.kind] if fact.kind in _LIKELY else len(_LIKELY), place, fact))
    counted.sort(key=lambda row: row[:3])
    return [row[3] for row in counted]
