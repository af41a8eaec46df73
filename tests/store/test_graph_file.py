"""Every sort of graph file is opened the same way, has the same core, and its own tables by its own steps."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from repertoire.domain.component import Edge, Node
from repertoire.domain.errors import ForeignStore, NewerStore
from repertoire.domain.graph import (
    CORE,
    HOME,
    NEVER,
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
from repertoire.store.database import Store
from repertoire.store.graph import Graph
from repertoire.store.graph_file import HOME_FILE, GraphFile, begin, open_graph_file
from repertoire.store.migrations import Migration, full_text
from repertoire.store.pack_file import PACK_FILE
from repertoire.store.vectors import Vectors
from repertoire.store.writing import SHARED, GraphWriter, words_of
from store.damages import valuable
from store.more_kinds import FILE
from store.samples import NOW

ARTICLES = "articles"
STANDS_IN = next(kind for kind in HOME.kinds if kind.name == STAND_IN)
LAYOUT = Layout(
    views=(View(ARTICLES, "section_text", "revision articles"),),
    kinds=(NodeKind("section", "a part of an article", (ARTICLES,), WITH_ALL), STANDS_IN),
    relations=(Relation("cites", "names it", (ARTICLES,)),),
    tables=(
        *(table for table in HOME.tables if table.owner == CORE),
        Table("section_text", ARTICLES, WITH_NODE, node="rowid"),
        Table("fact", ARTICLES, WITH_NODE, node="node_id"),
    ),
)
FACT = "CREATE TABLE fact(node_id INTEGER NOT NULL REFERENCES node(id) ON DELETE CASCADE, says TEXT NOT NULL)"
PACK = GraphFile("pack", LAYOUT, (begin("pack", full_text("section_text")), Migration(2, "facts", (FACT,))))
FIRST = GraphFile("pack", LAYOUT, PACK.migrations[:1])


def tables(path: Path) -> dict[str, list[tuple[object, ...]]]:
    """Return every row of every table, as another SQLite reads them."""
    with closing(sqlite3.connect(path)) as db:
        names = [
            row[0]
            for row in db.execute("SELECT name FROM sqlite_schema WHERE type = 'table' AND sql NOT GLOB '*vec0*'")
        ]
        return {name: db.execute(f"SELECT * FROM {name}").fetchall() for name in names}


def test_another_sort_of_file_holds_a_graph_and_a_table_of_its_own(tmp_path: Path) -> None:
    path = tmp_path / "pack.db"
    open_graph_file(path, FIRST).close()
    db = open_graph_file(path, PACK)
    graph, writer = Graph(db), GraphWriter(db, Vectors(db), NOW)
    with db.transaction():
        node = writer.put_node(Node("section:intro", "section", "Intro"), text=words_of("Intro", "How walks rank"))
        edges = [
            Edge("section:intro", "github.com/a/b:skills/pdf", "cites"),
            Edge("section:intro", "section:end", "cites"),
        ]
        writer.replace_edges(SHARED, edges)
        db.execute("INSERT INTO fact VALUES (?, 'a walk restarts')", (node,))
        writer.collect_orphans()
    assert db.schema == PACK.newest
    assert graph.revision(ARTICLES) == 1
    assert graph.match(["walks"], limit=5, weights=(1, 1, 1), view=ARTICLES)[0][0] == node
    assert graph.topology(ARTICLES).keys == ("section:intro",)
    assert dict(db.rows("SELECT key, type FROM node WHERE id <> ?", (node,))) == {
        "github.com/a/b:skills/pdf": STAND_IN,
        "section:end": STAND_IN,
    }, "what lies in another file stands in by its key"
    with db.transaction():
        writer.delete([(node, "section")])
        writer.collect_orphans()
    assert [db.value(f"SELECT count(*) FROM {table}") for table in ("node", "edge", "fact", "section_text")] == [0] * 4
    db.close()


def test_one_sort_of_file_is_not_opened_as_another(tmp_path: Path) -> None:
    open_graph_file(tmp_path / "pack.db", PACK).close()
    open_graph_file(tmp_path / "home.db").close()
    before = tables(tmp_path / "pack.db")
    with pytest.raises(ForeignStore, match="is a pack database, not a home database"):
        Store.open(tmp_path / "pack.db")
    assert tables(tmp_path / "pack.db") == before
    with pytest.raises((ForeignStore, NewerStore)):
        open_graph_file(tmp_path / "home.db", PACK)


def test_a_home_that_gains_a_system_loses_nothing(tmp_path: Path) -> None:
    path = tmp_path / "repertoire.db"
    valuable(path)
    before = tables(path)
    with Store.open(path, file=FILE) as store:
        revision = store.graph.revision()
    after = tables(path)
    assert before["migration"] == after["migration"][:-1]
    del before["migration"]
    assert before.items() <= after.items()
    assert {"note_text", "mark"} <= after.keys()
    with pytest.raises(NewerStore):
        Store.open(path)
    with Store.open(path, file=FILE) as store:
        assert store.graph.revision() == revision > 0


@pytest.mark.parametrize(
    "file", [HOME_FILE, PACK, FILE, PACK_FILE], ids=["home", "pack", "home with more", "knowledge pack"]
)
def test_every_table_has_an_owner_and_a_rule_of_forgetting(tmp_path: Path, file: GraphFile) -> None:
    with closing(open_graph_file(tmp_path / "any.db", file)) as db:
        found = {
            name: kind
            for name, kind in db.rows("SELECT name, type FROM pragma_table_list WHERE schema = 'main'")
            if kind != "shadow" and not name.startswith("sqlite_")
        }
        columns = {name: {row[1] for row in db.rows(f"PRAGMA table_info({name})")} | {"rowid"} for name in found}
        bound = {
            name
            for name in found
            for row in db.rows(f"PRAGMA foreign_key_list({name})")
            if (row[2], row[6]) in {("node", "CASCADE"), ("component", "CASCADE")}
        }
    rows = {table.name: table for table in file.layout.tables}
    assert rows.keys() == found.keys()
    owners = {CORE, "log", "person", *file.layout.views_by_name}
    for name, table in rows.items():
        assert table.owner in owners
        assert table.forgotten
        assert {table.node, table.project} - {""} <= columns[name]
        if table.forgotten == NEVER:
            assert name in ("meta", "migration")
        if table.forgotten == WITH_NODE:
            assert table.node or name in bound or name == "vector_state"
        if found[name] == "virtual":
            assert name in {view.text for view in file.layout.views}


def test_every_kind_has_a_view_that_exists_and_its_stand_ins_go_with_their_edges() -> None:
    for layout in (HOME, LAYOUT, FILE.layout, PACK_FILE.layout):
        for row in (*layout.kinds, *layout.relations):
            assert {*row.views} <= layout.views_by_name.keys()
            assert row.means
        assert layout.kind[STAND_IN].forgotten == WITH_EDGES
        assert len({*layout.kind}) == len(layout.kinds)
        assert len({view.revision for view in layout.views}) == len(layout.views)
