"""A home in which two systems more live: problems that were solved, and sections of what was read; each is rows."""

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

TRACES, SECTIONS, SPACE, MODEL = "traces", "sections", "problem", "m"
LAYOUT = Layout(
    views=(*HOME.views, View(TRACES, "trace_text", "revision traces"), View(SECTIONS, "", "revision sections")),
    kinds=(
        *(replace(kind, views=(*kind.views, TRACES)) if kind.name == CAPABILITY else kind for kind in HOME.kinds),
        NodeKind("trace", "a solved problem", (TRACES,), WITH_PROMPTS, spaces=(SPACE,), own=True),
        NodeKind("section", "a part of an article", (SECTIONS,), WITH_SOURCE),
    ),
    relations=(
        *HOME.relations,
        Relation("solved_by", "this helped", (TRACES,)),
        Relation("cites", "names", (SECTIONS,)),
    ),
    tables=(
        *HOME.tables,
        Table("trace_text", TRACES, WITH_NODE, node="rowid"),
        Table("vote", TRACES, WITH_NODE, node="node_id", own=True),
    ),
)
STEP = Migration(
    NEWEST + 1,
    "traces",
    (
        full_text("trace_text"),
        """CREATE TABLE vote(
            node_id INTEGER NOT NULL REFERENCES node(id) ON DELETE CASCADE, voter TEXT NOT NULL, up INTEGER)""",
    ),
)
FILE = GraphFile("home", LAYOUT, (*MIGRATIONS, STEP))


def solve(store: Store, name: str, component: str, *, project: str = "/p") -> int:
    """Write a solved problem with its words, its vector, a vote, and edges to a component and a capability."""
    key = f"trace:{name}"
    with store.transaction():
        node = Node(key, "trace", name, {"projects": [project]})
        number = store.sources.add_node(node, text=words_of(name, f"the {name} failed"), now=NOW)
        edges = [Edge(key, end, "solved_by") for end in (component, "capability:pdf", "package:elsewhere")]
        store.sources.set_edges(edges, now=NOW, file=f"trace {name}")
        store.vectors.put(SPACE, MODEL, [(number, "h")], np.eye(1, 8, number % 8, dtype=np.float32))
        store._connection.execute("INSERT INTO vote VALUES (?, 'me', 1)", (number,))
    return number


def held(store: Store) -> dict[str, object]:
    """Return what the store holds of solved problems."""
    db = store._connection
    return {
        "nodes": db.rows("SELECT key, name, data FROM node WHERE type = 'trace' ORDER BY key"),
        "edges": db.rows(
            """SELECT a.key, b.key, e.weight FROM edge e JOIN node a ON a.id = e.source JOIN node b ON b.id = e.target
               WHERE relation = 'solved_by' ORDER BY 1, 2"""
        ),
        "found": store.graph.match(["failed"], limit=9, weights=(1, 1, 1), view=TRACES),
        "vectors": store.vectors.matrix(SPACE, MODEL)[0].tolist(),
        "votes": db.rows("SELECT voter, up FROM vote"),
    }
