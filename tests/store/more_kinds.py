"""A home in which two systems more live: notes that somebody took, and sections of what was read; each is rows."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from repertoire.domain.component import CAPABILITY, Edge, Node
from repertoire.domain.graph import (
    HOME,
    WITH_NODE,
    WITH_PROMPTS,
    WITH_SOURCE,
    Layout,
    NodeKind,
    Relation,
    Table,
    View,
)
from repertoire.store.database import Store
from repertoire.store.graph_file import GraphFile
from repertoire.store.migrations import MIGRATIONS, NEWEST, Migration, full_text
from repertoire.store.writing import words_of
from store.samples import NOW

NOTES, SECTIONS, SPACE, MODEL = "notes", "sections", "remark", "m"
LAYOUT = Layout(
    views=(*HOME.views, View(NOTES, "note_text", "revision notes"), View(SECTIONS, "", "revision sections")),
    kinds=(
        *(replace(kind, views=(*kind.views, NOTES)) if kind.name == CAPABILITY else kind for kind in HOME.kinds),
        NodeKind("note", "a note", (NOTES,), WITH_PROMPTS, spaces=(SPACE,), own=True),
        NodeKind("section", "a part of an article", (SECTIONS,), WITH_SOURCE),
    ),
    relations=(
        *HOME.relations,
        Relation("noted_of", "this is about it", (NOTES,)),
        Relation("cites", "names", (SECTIONS,)),
    ),
    tables=(
        *HOME.tables,
        Table("note_text", NOTES, WITH_NODE, node="rowid"),
        Table("mark", NOTES, WITH_NODE, node="node_id", own=True),
    ),
)
STEP = Migration(
    NEWEST + 1,
    "notes",
    (
        full_text("note_text"),
        """CREATE TABLE mark(
            node_id INTEGER NOT NULL REFERENCES node(id) ON DELETE CASCADE, voter TEXT NOT NULL, up INTEGER)""",
    ),
)
FILE = GraphFile("home", LAYOUT, (*MIGRATIONS, STEP))


def take_note(store: Store, name: str, component: str, *, project: str = "/p") -> int:
    """Write a note with its words, its vector, a mark, and edges to a component and a capability."""
    key = f"note:{name}"
    with store.transaction():
        node = Node(key, "note", name, {"projects": [project]})
        number = store.sources.add_node(node, text=words_of(name, f"the {name} failed"), now=NOW)
        edges = [Edge(key, end, "noted_of") for end in (component, "capability:pdf", "package:elsewhere")]
        store.sources.set_edges(edges, now=NOW, file=f"note {name}")
        store.vectors.put(SPACE, MODEL, [(number, "h")], np.eye(1, 8, number % 8, dtype=np.float32))
        store._connection.execute("INSERT INTO mark VALUES (?, 'me', 1)", (number,))
    return number


def held(store: Store) -> dict[str, object]:
    """Return what the store holds of notes."""
    db = store._connection
    return {
        "nodes": db.rows("SELECT key, name, data FROM node WHERE type = 'note' ORDER BY key"),
        "edges": db.rows(
            """SELECT a.key, b.key, e.weight FROM edge e JOIN node a ON a.id = e.source JOIN node b ON b.id = e.target
               WHERE relation = 'noted_of' ORDER BY 1, 2"""
        ),
        "found": store.graph.match(["failed"], limit=9, weights=(1, 1, 1), view=NOTES),
        "vectors": store.vectors.matrix(SPACE, MODEL)[0].tolist(),
        "marks": db.rows("SELECT voter, up FROM mark"),
    }
