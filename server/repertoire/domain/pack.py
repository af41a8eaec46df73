"""The schema of a pack's graph file (articles, sections, chunks, categories), and the values that are written to it."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from repertoire.domain.component import PACKS
from repertoire.domain.graph import (
    CORE,
    HOME,
    STAND_IN,
    WITH_ALL,
    WITH_EDGES,
    WITH_NODE,
    Layout,
    NodeKind,
    Relation,
    Table,
    View,
)

ARTICLE, SECTION, CHUNK, CATEGORY = "article", "section", "chunk", "category"  # kinds of nodes
HAS_SECTION, HAS_CHUNK, LINKS_TO, IN_CATEGORY = "has_section", "has_chunk", "links_to", "in_category"  # relations
ENTITY, FACT = "entity", "fact"  # kinds of nodes that rules find in the text
HAS_ENTITY, HAS_FACT, ENTITY_RELATION = "has_entity", "has_fact", "entity_relation"
SECTIONS, ARTICLES, FACTS = "sections", "articles", "facts"  # the views: parts of articles, whole ones, what they say
API, OPTION, CONCEPT, SOFTWARE = "api", "option", "concept", "software"  # kinds of entities
DEFINITION, SYMBOL, DEFAULT, VERSION, REQUIREMENT = "definition", "symbol", "default", "version", "requirement"
FACT_KINDS = (DEFINITION, SYMBOL, DEFAULT, VERSION, REQUIREMENT)
OPTION_OF, REQUIRES, EXTENDS, REPLACED_BY = "option of", "requires", "extends", "replaced by"  # between entities
CHUNK_SPACE, HEADING_SPACE = "chunk", "heading"  # vector spaces: the text of a chunk, and the headings of a section
UNDESCRIBED = "Documentation from "  # begins a description that nobody wrote: it names the source alone
PACK_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,63}")
SKILL_MARK = "repertoire-pack"  # the key in the front matter that tells a pack's skill from a person's own
FORMAT = 1  # version of manifest.json

_BOTH = (SECTIONS, ARTICLES)
PACK = Layout(
    views=(
        View(SECTIONS, "section_text", "revision sections"),
        View(ARTICLES, "", "revision articles"),
        View(FACTS, "", "revision facts"),
    ),
    kinds=(
        NodeKind(ARTICLE, "a document (table `article`)", (ARTICLES, SECTIONS, FACTS), WITH_ALL),
        NodeKind(SECTION, "a document's part under one heading", (SECTIONS,), WITH_ALL, spaces=(HEADING_SPACE,)),
        NodeKind(CHUNK, "a part of a section, short enough for a model", (SECTIONS,), WITH_ALL, spaces=(CHUNK_SPACE,)),
        NodeKind(CATEGORY, "a group of articles", (ARTICLES,), WITH_EDGES, stands_in=True),
        NodeKind(ENTITY, "what documents speak of: a symbol, an option, a concept", (FACTS,), WITH_ALL),
        NodeKind(FACT, "a sentence, list item or table row that says something of an entity", (FACTS,), WITH_ALL),
        next(kind for kind in HOME.kinds if kind.name == STAND_IN),
    ),
    relations=(
        Relation(HAS_SECTION, "contains this section; the weight is 1", (SECTIONS,)),
        Relation(HAS_CHUNK, "contains this chunk; the weight is 1", (SECTIONS,)),
        Relation(LINKS_TO, "links to this article", _BOTH, "how often, 0 or more"),
        Relation(HAS_ENTITY, "speaks of this entity; the weight is 1", (FACTS,)),
        Relation(HAS_FACT, "says this; the weight is 1", (FACTS,)),
        Relation(ENTITY_RELATION, "`entity_relation:` and how it is related; the evidence is what says so", (FACTS,)),
        Relation(IN_CATEGORY, "belongs to this category; the weight is 1", (ARTICLES,)),
    ),
    tables=(
        *(table for table in HOME.tables if table.owner == CORE),
        Table("article", ARTICLES, WITH_NODE, node="node_id"),
        Table("section", SECTIONS, WITH_NODE, node="node_id"),
        Table("section_text", SECTIONS, WITH_NODE, node="rowid"),
        Table("chunk", SECTIONS, WITH_NODE, node="node_id"),
        Table("entity", FACTS, WITH_NODE, node="node_id"),
        Table("fact", FACTS, WITH_NODE, node="node_id"),
        Table("skipped", SECTIONS, WITH_ALL),
    ),
)


def stand_in(pack: str) -> str:
    """Return the id of the component that stands in for a pack in the home's graph."""
    return f"{PACKS}:{pack}"


def cited(article: str, anchor: str) -> str:
    """Return how a section is cited; what precedes the first heading of a document has no anchor."""
    return f"{article}#{anchor}" if anchor else article


def parts_of(citation: str) -> tuple[str, str]:
    """Return the article and the anchor of a citation: a path may hold the sign `#` too, an anchor does not."""
    article, mark, anchor = citation.rpartition("#")
    return (article, anchor) if mark else (citation, "")


@dataclass(frozen=True)
class PackSection:
    """A part of an article: from one heading to the next. `path` holds the headings above it, without the title.

    `anchor` is the fragment of the heading's address; it is empty for the text before the first heading.
    `chunks` are (begin, end) positions in the text, in characters; `lines` are its lines in the document's text
    (from 1, both included).
    """

    title: str
    anchor: str
    level: int
    text: str
    path: tuple[str, ...] = ()
    chunks: tuple[tuple[int, int], ...] = ()
    lines: tuple[int, int] = (0, 0)


@dataclass(frozen=True)
class PackEntity:
    """Something that documents speak of, with the words that define it, if any do."""

    name: str
    kind: str
    description: str = ""


@dataclass(frozen=True)
class PackFact:
    """A range of characters in a section's text that says something of an entity; `section` is its position."""

    section: int
    kind: str
    begin: int
    end: int
    subject: str = ""  # the name of an entity; empty where no heading or sentence names one


@dataclass(frozen=True)
class StatedFact:
    """A fact as an answer quotes it: its kind, subject (perhaps empty) and words, and the section that says it."""

    kind: str
    subject: str
    text: str
    article: str
    anchor: str
    title: str

    @property
    def citation(self) -> str:
        """Return `article#anchor`."""
        return cited(self.article, self.anchor)


@dataclass(frozen=True)
class EntityRelation:
    """How one entity is related to another, by name, with the words that say so."""

    source: str
    target: str
    relation: str
    context: str


@dataclass(frozen=True)
class PackKnowledge:
    """What rules found in a document."""

    entities: tuple[PackEntity, ...] = ()
    facts: tuple[PackFact, ...] = ()
    relations: tuple[EntityRelation, ...] = ()


@dataclass(frozen=True)
class PackArticle:
    """A document of a pack. `links` are paths of other documents in the same source, once for each link."""

    path: str
    title: str
    sections: tuple[PackSection, ...]
    category: str = ""
    content_hash: str = ""
    links: tuple[str, ...] = ()
    knowledge: PackKnowledge = field(default_factory=PackKnowledge)


@dataclass(frozen=True)
class PackPassage:
    """A section as an answer quotes it; `begin` and `end` are the characters of the chunk nearest to the question.

    `text` is a part of a very long section: `before` and `after` count the characters around it, which are left out.
    """

    article: str
    anchor: str
    title: str
    headings: tuple[str, ...]
    text: str
    begin: int = 0  # in `text`, as `end`
    end: int = 0
    before: int = 0
    after: int = 0

    @property
    def citation(self) -> str:
        """Return `article#anchor`: the path of the document in its source, and the heading's fragment."""
        return cited(self.article, self.anchor)

    def shown(self, limit: int) -> tuple[int, str]:
        """Return where in `text` the shown part begins, and this part: with the nearest chunk where it ends late."""
        if self.end <= limit:
            return 0, self.text[:limit]
        begin = min(self.begin, max(len(self.text) - limit, 0))
        line = self.text.find("\n", begin, self.begin) + 1  # the first whole line before the chunk
        begin = line if 0 < begin < self.begin and line else begin
        return begin, self.text[begin : begin + limit]


@dataclass(frozen=True)
class PackCounts:
    """The size of a pack."""

    articles: int
    sections: int
    chunks: int
    links: int
    skipped: int
    characters: int
    entities: int = 0
    facts: int = 0
    relations: int = 0  # between entities
    categories: int = 0
