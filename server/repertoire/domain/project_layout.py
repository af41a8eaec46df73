"""The layout of a project's graph file: its views (files, code, docs, knowledge), kinds, relations and tables."""

from __future__ import annotations

from dataclasses import replace

from repertoire.domain.graph import (
    CORE,
    HOME,
    STAND_IN,
    WITH_ALL,
    WITH_EDGES,
    WITH_NODE,
    WITH_SOURCE,
    Layout,
    NodeKind,
    Relation,
    Table,
    View,
)
from repertoire.domain.pack import HAS_CHUNK, LINKS_TO
from repertoire.domain.project import (
    ABOUT,
    BLOCKS,
    CALLS,
    CHUNKS_OF,
    CODE,
    CONTAINS,
    DOCS,
    ENTITY,
    EPIC,
    EXPORTS,
    EXTENDS,
    FILE,
    FILES,
    IMPLEMENTS,
    IMPORTS,
    KNOWLEDGE,
    NOTE,
    PART_OF,
    PROCEDURE,
    RELATES_TO,
    SAID,
    SECTION,
    SUPERSEDES,
    SYMBOL,
    TASK,
)

_ALL = (CODE, DOCS, KNOWLEDGE)


def heading_space(view: str) -> str:
    """Return the name of the vector space that holds the names and first lines of a view's nodes."""
    return f"{view} heading"


def chunk_space(view: str) -> str:
    """Return the name of the vector space that holds the pieces of a view's texts."""
    return f"{view} chunk"


def _chunk(view: str) -> NodeKind:
    told = "a piece of it, short enough for a model"
    return NodeKind(CHUNKS_OF[view], told, (view,), WITH_SOURCE, spaces=(chunk_space(view),), walked=False)


def _entry(kind: str, told: str) -> NodeKind:
    return NodeKind(kind, told, (KNOWLEDGE,), WITH_ALL, spaces=(heading_space(KNOWLEDGE),), own=True)


PROJECT = Layout(
    views=tuple(View(name, f"{name}_text", f"revision {name}") for name in (FILES, CODE, DOCS, KNOWLEDGE)),
    kinds=(
        NodeKind(FILE, "a file of the project (table `project_file`)", (FILES, CODE, DOCS), WITH_SOURCE),
        NodeKind(
            SYMBOL, "a function, class, type, … (table `symbol`)", (CODE,), WITH_SOURCE, spaces=(heading_space(CODE),)
        ),
        NodeKind(SECTION, "a document's part under one heading", (DOCS,), WITH_SOURCE, spaces=(heading_space(DOCS),)),
        _entry(NOTE, "a decision, pattern, preference, fact, …"),
        _entry(TASK, "what is to be done"),
        _entry(EPIC, "tasks that belong together"),
        _entry(PROCEDURE, "steps that worked once"),
        NodeKind(
            ENTITY, "what an entry says something of", (KNOWLEDGE,), WITH_EDGES, own=True, walked=False, stands_in=True
        ),
        *(_chunk(view) for view in CHUNKS_OF),
        next(kind for kind in HOME.kinds if kind.name == STAND_IN),
    ),
    relations=(
        Relation(CONTAINS, "holds it", (CODE, DOCS)),
        Relation(HAS_CHUNK, "has this piece; the weight is 1", _ALL, walked=False),
        Relation(IMPORTS, "imports this file", (CODE,)),
        Relation(EXPORTS, "offers it to other files", (CODE,)),
        Relation(CALLS, "calls it", (CODE,)),
        Relation(EXTENDS, "is derived from it", (CODE,)),
        Relation(IMPLEMENTS, "implements it", (CODE,)),
        Relation(LINKS_TO, "links to this document", (DOCS,)),
        Relation(BLOCKS, "must be done before it", (KNOWLEDGE,)),
        Relation(PART_OF, "belongs to this epic", (KNOWLEDGE,)),
        Relation(ABOUT, "is about it", (KNOWLEDGE,)),
        Relation(RELATES_TO, "has to do with it", (KNOWLEDGE,)),
        Relation(SUPERSEDES, "replaces it", (KNOWLEDGE,), walked=False),
        *(
            Relation(
                name, f"{name.removeprefix('said_').replace('_', ' ')} it, an entry says", (KNOWLEDGE,), walked=False
            )
            for name in SAID
        ),
    ),
    tables=(
        # `meta` names the project's folder, which the file's name does not tell
        *(replace(table, own=table.name == "meta") for table in HOME.tables if table.owner == CORE),
        *(Table(f"{name}_text", name, WITH_NODE, node="rowid") for name in (FILES, CODE, DOCS, KNOWLEDGE)),
        Table("project_file", FILES, WITH_NODE, node="node_id"),
        Table("symbol", CODE, WITH_NODE, node="node_id"),
        Table("section", DOCS, WITH_NODE, node="node_id"),
        Table("entry", KNOWLEDGE, WITH_NODE, node="node_id", own=True),
        Table("chunk", CODE, WITH_NODE, node="node_id"),
        Table("embedded", CODE, WITH_NODE, node="node_id"),
        Table("skipped", FILES, WITH_ALL),
        Table("mirror", KNOWLEDGE, WITH_ALL),
        # what a person decided on; what waits is made of prompts, which are in no backup
        Table("candidate", KNOWLEDGE, WITH_ALL, own=True, own_rows="said = ''"),
        Table("credit", CODE, WITH_NODE, node="node_id"),
        Table("merged", KNOWLEDGE, WITH_NODE, node="node_id", own=True),
    ),
)
