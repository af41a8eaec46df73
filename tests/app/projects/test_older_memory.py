"""A memory that an older version wrote is brought up to date when it is opened."""

from __future__ import annotations

import sqlite3
from contextlib import closing

import pytest

from app.projects.small_project import begin, write
from repertoire.app.projects.entries import save_entry
from repertoire.app.projects.entry_requests import SaveRequest
from repertoire.app.projects.search import MemoryQuery, search_memory
from repertoire.app.projects.shelf import ProjectShelf
from repertoire.app.wiring import open_project


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
