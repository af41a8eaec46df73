"""A memory that an older version wrote is brought up to date when it is opened."""

from __future__ import annotations

import sqlite3
from contextlib import closing

import pytest

from app.projects.small_project import begin, read, write
from repertoire.app.clock import now
from repertoire.app.projects.entries import new_entry, save_entry
from repertoire.app.projects.entry_requests import SaveRequest
from repertoire.app.projects.entry_texts import texts_of_entry
from repertoire.app.projects.search import MemoryQuery, search_memory
from repertoire.app.projects.shelf import ProjectShelf
from repertoire.app.wiring import open_project
from repertoire.inference.embedder import load
from repertoire.inference.weights import bundled
from repertoire.store.project_file import ProjectStore


def titles(shelf, root, question):
    found = search_memory(shelf.open(str(root)), MemoryQuery(question, ("note",)), embedder=None)
    return [hit.item.title for hit in found.hits]


@pytest.mark.parametrize(
    ("title", "question"),
    [
        ("我们决定使用缓慢冷却的窑炉", "窑炉冷却"),
        ("窯はゆっくり冷却することに決定しました", "冷却の決定"),
        ("PDFを窯で読む", "pdf"),
    ],
)
def test_a_note_in_a_script_that_parts_no_words_is_found_by_a_part_of_it_though_it_was_saved_before(
    tmp_path, title, question
):
    home, root = tmp_path / "home", write(tmp_path / "kiln", {"README.md": "# Kiln\n"})
    with begin(home, root) as memory:
        file = memory.path
    with closing(ProjectShelf(home, open_project)) as shelf:
        for one in (title, "The kiln cools slowly"):
            save_entry(shelf.open(str(root)), SaveRequest("note", title=one), embedder=None)
    with closing(sqlite3.connect(file)) as db, db:  # as schema 7 held it: a run of letters is one word
        old = "UPDATE knowledge_text SET name = ? WHERE rowid = (SELECT node_id FROM entry WHERE title = ?)"
        assert db.execute(old, (title.lower(), title)).rowcount == 1
        db.execute("DELETE FROM migration WHERE number > 7")
        db.execute("PRAGMA user_version = 7")
    with closing(ProjectShelf(home, open_project)) as shelf:
        assert titles(shelf, root, question) == [title]
        assert titles(shelf, root, "cools slowly") == ["The kiln cools slowly"]


def test_what_was_read_without_its_english_is_read_again_once_and_embedded_anew(tmp_path):
    home = tmp_path / "home"
    files = {
        "docs/ofen.md": "# Ofen\n\n## Sicherung\n\nJede Nacht wird die Datenbank für Kunden gesichert.\n",
        "docs/kiln.md": "# Kiln\n\n## Cooling\n\nThe kiln cools slowly.\n",
        "kiln.py": 'def f1(x):\n    """从数据库中删除过期的会话。"""\n',
    }
    root, embedder = write(tmp_path / "kiln", files), load(bundled())
    with begin(home, root) as memory:
        file = memory.path
    with ProjectStore.open(file) as memory:  # as an older version, which translated nothing
        note = new_entry(SaveRequest("note", title="Bestellungen für Kunden liegen in der Datenbank"))
        memory.entries.put(note, texts_of_entry(note).values(), now=now())
        read(memory, embedder=embedder)
    with closing(sqlite3.connect(file)) as db, db:
        assert db.execute("DELETE FROM meta WHERE key = 'dictionaries'").rowcount == 1
    with closing(ProjectShelf(home, open_project)) as shelf:
        project = shelf.open(str(root))
        assert found(project, "database backup", "docs") != ["Sicherung"]
        again = read(project.store, embedder=embedder)
        assert (again.read, again.embedded) == (2, 5)
        assert found(project, "database backup", "docs") == ["Sicherung"]
        assert found(project, "delete expired session", "code") == ["f1"]
        assert found(project, "orders database", "note") == [note.title]
        again = read(project.store, embedder=embedder)
        assert (again.read, again.embedded) == (0, 0)


def found(project, question, kind):
    hits = search_memory(project, MemoryQuery(question, (kind,)), embedder=None).hits
    return [hit.item.title for hit in hits[:1]]
