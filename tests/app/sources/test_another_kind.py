"""An ingest keeps nodes of an unknown kind apart from components; they are forgotten and rescued like other data."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from ingestion.workbench import Workbench, skill, workbench
from repertoire.app.person.forget import ALL, PROJECT, REQUESTS, forget
from repertoire.domain.component import Edge, FileRecord, Node
from repertoire.domain.graph import COMPONENTS
from repertoire.retrieval.snapshot import Snapshots
from repertoire.store.damage import damage
from repertoire.store.database import Store
from repertoire.store.rescue import rescue
from store.damages import DAMAGES
from store.more_kinds import FILE, MODEL, NOTES, SECTIONS, held, take_note
from store.samples import NOW, SOURCE, record

PDF = "skills/pdf/SKILL.md"
SHELF = {PDF: skill("pdf", "Fills PDF forms."), "skills/git/SKILL.md": skill("git", "Writes commit messages.")}
WEIGHTS = (1.0, 1.0, 1.0)


@pytest.fixture
def bench(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Workbench]:
    with workbench(tmp_path, monkeypatch, FILE) as opened:
        opened.ingest(opened.write(SHELF))
        yield opened


def pdf(store: Store) -> str:
    return next(summary.id for summary in store.graph.summaries() if summary.name == "pdf")


def everything(store: Store) -> dict[str, int]:
    """Count the rows of every table that is not of SQLite's own or of a virtual table's making."""
    tables = store._connection.rows(
        "SELECT name FROM pragma_table_list WHERE schema = 'main' AND type <> 'shadow' AND name NOT GLOB 'sqlite_*'"
    )
    return {name: store._connection.value(f"SELECT count(*) FROM {name}") for (name,) in tables}


def test_nothing_of_another_kind_is_lost_by_an_ingest(bench: Workbench) -> None:
    store = bench.store
    take_note(store, "build", pdf(store))
    before = held(store)
    assert all(before.values())
    bench.ingest(bench.write({PDF: skill("pdf", "Fills and signs PDF forms.")}))
    other = bench.ingest(bench.write({"SKILL.md": skill("other")}, under="other"))
    store.sources.remove(other.source)
    store.vectors.drop_other_models("another model of components")
    assert held(store) == before
    for row in store.sources.all():
        store.sources.remove(row.info.key)
    after = held(store)
    assert after == before, "what it leads to is known by name"


def test_writing_another_kind_moves_no_revision_of_components_and_joins_none_of_their_walks(bench: Workbench) -> None:
    store = bench.store
    snapshots = Snapshots(store.graph, store.vectors, model="m")
    kept, revision = snapshots.current(), store.graph.revision()
    vectors, words, notes = store.vectors.revision(), store.graph.document_frequency(["failed"]), 0
    for name in ("build", "test", "lint"):
        take_note(store, name, pdf(store))
        moved = store.graph.revision(NOTES)
        notes, last = moved, notes
        assert moved > last
    assert store.graph.revision() == revision
    assert store.vectors.revision() == vectors
    assert store.graph.document_frequency(["failed"]) == words
    assert store.graph.match(["failed"], limit=9, weights=WEIGHTS) == []
    assert snapshots.current() is kept
    fresh = Snapshots(store.graph, store.vectors, model="m").current()
    assert (fresh.topology.keys, fresh.topology.relation) == (kept.topology.keys, kept.topology.relation)
    assert {link.relation for link in store.graph.links(pdf(store))}.isdisjoint({"noted_of"})
    walked = store.graph.topology(NOTES)
    assert {"note:build", "note:test", "note:lint", "capability:pdf"} <= {*walked.keys}
    assert {*walked.relation} == {"noted_of"}
    assert len(walked.relation) == 3, "the edges to what notes do not read are left out"


def test_components_that_are_read_move_no_other_views_revision(bench: Workbench) -> None:
    take_note(bench.store, "build", pdf(bench.store))
    section = Node("section:intro", "section", "intro")
    bench.store.sources.write(SOURCE, [record("a.md", nodes=(section,))], (), derived=(), now=NOW)
    notes, sections = (bench.store.graph.revision(view) for view in (NOTES, SECTIONS))
    before = bench.revision()
    bench.ingest(bench.write({PDF: skill("pdf", "Fills and signs forms.")}))
    assert bench.revision() > before
    assert bench.store.graph.revision(SECTIONS) == sections > 0
    assert bench.store.graph.revision(NOTES) <= notes + 1, "notes read capabilities, and nothing else of these"


def test_what_is_written_again_and_equal_moves_nothing(bench: Workbench) -> None:
    take_note(bench.store, "build", pdf(bench.store))
    before = bench.store.graph.revision(NOTES)
    take_note(bench.store, "build", pdf(bench.store))
    assert bench.store.graph.revision(NOTES) == before


@pytest.mark.parametrize("what", [REQUESTS, ALL])
def test_what_belongs_to_what_was_asked_is_forgotten_with_it(bench: Workbench, what: str) -> None:
    take_note(bench.store, "build", pdf(bench.store))
    forget(bench.store, what)
    assert not any(held(bench.store).values())
    assert bool(bench.store.graph.summaries()) == (what == REQUESTS)


def test_what_belongs_to_a_project_is_forgotten_with_it_and_with_no_other(bench: Workbench) -> None:
    take_note(bench.store, "build", pdf(bench.store), project="/other")
    alone = held(bench.store)
    take_note(bench.store, "test", pdf(bench.store), project="/here")
    assert held(bench.store) != alone
    forget(bench.store, PROJECT, project="/here")
    assert held(bench.store) == alone


def test_what_belongs_to_a_source_is_kept_without_an_edge_and_goes_with_its_file(bench: Workbench) -> None:
    section = Node("section:intro", "section", "intro")
    store = bench.store
    files = [record("a.md", nodes=(section,)), record("b.md", nodes=(Node("section:end", "section", "end"),))]
    store.sources.write(SOURCE, files, (), derived=(), now=NOW)
    bench.ingest(bench.write({PDF: skill("pdf", "Fills and signs PDF forms.")}))
    assert {*store.graph.topology(SECTIONS).keys} == {"section:intro", "section:end"}
    store.sources.write(SOURCE, [FileRecord("a.md", "another")], (), derived=(), now=NOW)
    assert store.graph.topology(SECTIONS).keys == ("section:end",)
    store.sources.remove(SOURCE.key)
    assert store.graph.topology(SECTIONS).keys == ()


@pytest.mark.parametrize("kind", ["another number in the header", "the log of another database", "noise in the header"])
def test_what_is_a_persons_own_is_brought_back_by_a_rescue(tmp_path: Path, kind: str) -> None:
    path = tmp_path / "repertoire.db"
    with Store.open(path, file=FILE) as store:
        store.sources.write(
            SOURCE, [record("a.md", nodes=(Node("section:a", "section", "a"),))], (), derived=(), now=NOW
        )
        take_note(store, "build", "acme:pdf")
        take_note(store, "test", "acme:pdf")
        store.backup.write(now=NOW)
        was = held(store)
    DAMAGES[kind](path)
    told = rescue(path, damage(path, FILE), now=NOW, finish=lambda *_: None, file=FILE)
    assert (told.incomplete == ()) == (kind != "noise in the header"), "SQLite cannot read it without its header"
    brought = told.from_backup if told.incomplete else told.from_damaged
    assert (brought["note"], brought["mark"]) == (2, 2)
    with Store.open(path, file=FILE) as store:
        assert held(store) == {**was, "vectors": []}, "vectors are made anew from the words"
        assert store.graph.topology(SECTIONS).keys == (), "a source tells its own again"


def test_what_is_forgotten_of_another_kind_is_forgotten_in_the_backup(bench: Workbench) -> None:
    take_note(bench.store, "marigold", pdf(bench.store))
    bench.store.backup.write(now=NOW)
    assert b"marigold" in bench.store.backup.path.read_bytes()
    forget(bench.store, REQUESTS)
    assert b"marigold" not in bench.store.backup.path.read_bytes()


def test_a_kind_that_has_no_row_is_kept_joins_no_view_and_goes_with_everything(tmp_path, monkeypatch) -> None:
    with workbench(tmp_path, monkeypatch) as bench:
        store = bench.store
        bench.ingest(bench.write(SHELF))
        before, revision = store.graph.topology(), store.graph.revision()
        number = store.sources.add_node(Node("note:1", "note", "a note"), now=NOW)
        store.sources.set_edges(
            [Edge("note:1", "note:2", "cites"), Edge("note:1", pdf(store), "about")], now=NOW, file="n"
        )
        store.vectors.put("notes", MODEL, [(number, "h")], np.eye(1, 8, dtype=np.float32))
        store._connection.execute("CREATE TABLE scribble(node_id INTEGER REFERENCES node(id), text TEXT)")
        store._connection.execute("INSERT INTO scribble VALUES (?, 'x')", (number,))
        assert store.graph.revision() == revision
        bench.ingest(bench.write({PDF: skill("pdf", "Fills and signs PDF forms.")}))
        assert {link.relation for link in store.graph.links("note:1")} == set()
        assert store._connection.value("SELECT count(*) FROM edge WHERE relation IN ('about', 'cites')") == 2
        assert store.vectors.matrix("notes", MODEL)[0].tolist() == [number]
        assert store.graph.topology().keys == before.keys
        forget(store, ALL)
        assert {table for table, rows in everything(store).items() if rows} == {"meta", "migration"}
        assert store.graph.revision(COMPONENTS) > revision, "other sessions see that what they hold is gone"
