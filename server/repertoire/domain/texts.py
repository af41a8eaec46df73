"""The schema of a plain text index: documents, and the parts that they are cut into."""

from __future__ import annotations

from dataclasses import dataclass

from repertoire.domain.component import PART_OF
from repertoire.domain.graph import CORE, HOME, WITH_ALL, WITH_NODE, Layout, NodeKind, Relation, Table, View

DOCUMENT, PART = "document", "part"
DOCUMENTS, PARTS = "documents", "parts"  # two views: whole documents, and their parts
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
class TextDocument:
    """A text to index under its key, perhaps with a title."""

    key: str
    text: str
    title: str = ""


def parts_of(text: str, size: int) -> list[str]:
    """Cut a text into parts of at most `size` characters: before headings, else between lines, else anywhere."""
    parts, part = [], ""
    for line in _lines(text, size):
        if part and (len(part) + len(line) > size or line.startswith("#")):
            parts.append(part)
            part = ""
        part += line

    return [stripped for cut in (*parts, part) if (stripped := cut.strip())]


def _lines(text: str, size: int) -> list[str]:
    """Split a text into lines with their line ends; a line longer than a part is cut."""
    return [line[at : at + size] for line in text.splitlines(keepends=True) for at in range(0, len(line), size)]
