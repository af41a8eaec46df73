"""What a text index holds: documents, their parts, and of which document each is a part."""

from __future__ import annotations

from dataclasses import dataclass

from repertoire.domain.component import PART_OF
from repertoire.domain.graph import CORE, HOME, WITH_ALL, WITH_NODE, Layout, NodeKind, Relation, Table, View

DOCUMENT, PART = "document", "part"
DOCUMENTS, PARTS = "documents", "parts"  # views: the words of whole documents, and of their parts
PART_SPACE = "part"

TEXTS = Layout(
    views=(View(DOCUMENTS, "document_text", "revision documents"), View(PARTS, "part_text", "revision parts")),
    kinds=(
        NodeKind(DOCUMENT, "a text that answers", (DOCUMENTS, PARTS), WITH_ALL),
        NodeKind(PART, "a part of a document, short enough for a model", (PARTS,), WITH_ALL, spaces=(PART_SPACE,)),
    ),
    relations=(Relation(PART_OF, "lies inside it", (PARTS,)),),
    tables=(
        *(table for table in HOME.tables if table.owner == CORE),
        Table("document_text", DOCUMENTS, WITH_NODE, node="rowid"),
        Table("part_text", PARTS, WITH_NODE, node="rowid"),
    ),
)


@dataclass(frozen=True)
class Document:
    """A text under a key of its own, perhaps with a title."""

    key: str
    text: str
    title: str = ""


def parts_of(text: str, size: int) -> list[str]:
    """Return a text in parts of at most `size` characters: cut before headings, else between lines, else anywhere."""
    parts, part = [], ""
    for line in _lines(text, size):
        if part and (len(part) + len(line) > size or line.startswith("#")):
            parts.append(part)
            part = ""
        part += line
    return [found for one in (*parts, part) if (found := one.strip())]


def _lines(text: str, size: int) -> list[str]:
    """Return the lines of a text with their ends, those that are longer than a part cut."""
    return [line[at : at + size] for line in text.splitlines(keepends=True) for at in range(0, len(line), size)]
