"""A damaged memory is set aside, and what people saved in it stands in a new one; what was deleted is in no backup."""

from __future__ import annotations

import os
import random
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from app.projects.small_project import FILES, begin, read, write
from repertoire.app.health.doctor_store import memories
from repertoire.app.health.rescue import mend_memories
from repertoire.app.projects.entries import delete_entries, list_entries, save_entry
from repertoire.app.projects.entry_requests import DeleteRequest, ListQuery, SaveRequest, save_request
from repertoire.app.projects.places import files_of, memory_file
from repertoire.app.projects.review import ReviewRequest, keep_candidates, review, sighted
from repertoire.app.projects.shelf import ProjectShelf
from repertoire.app.projects.show import show_item
from repertoire.app.wiring import open_project
from repertoire.boot.home import backup_path
from repertoire.domain.errors import CorruptStore
from repertoire.projects.noticing import in_prompt
from repertoire.store.rescue import set_aside
from store.damages import PAGE, overwrite, spoil

TITLES = ["Fire before noon", "Glaze is lead-free", "Never fire wet clay"]


def emptied(path: Path) -> None:
    os.truncate(path, 0)


DAMAGES = {
    "noise in the first page": lambda path: overwrite(path, 0, random.Random(7).randbytes(PAGE)),
    "another number in the header": lambda path: overwrite(path, 68, b"abcd"),
    "noise in a third of the pages": lambda path: spoil(path, 0.3),
    "the last half cut off": lambda path: os.truncate(path, path.stat().st_size // 2),
    "emptied": emptied,
}


@pytest.fixture
def home(tmp_path):
    """A home with the memory of one project: three entries, one about a symbol."""
    root = write(tmp_path / "kiln-project", FILES)
    with begin(tmp_path / "home", root) as memory:
        read(memory)
    with closing(ProjectShelf(tmp_path / "home", open_project)) as shelf:
        project = shelf.open(str(root))
        save_entry(project, SaveRequest("note", title=TITLES[1]), embedder=None)
        save_entry(project, save_request({"kind": "note", "title": TITLES[2], "about": ["weigh"]}), embedder=None)
        save_entry(project, save_request({"kind": "task", "title": TITLES[0], "priority": 1}), embedder=None)
    return tmp_path / "home"


def root_of(home: Path) -> str:
    return str(home.parent / "kiln-project")


def titles(project):
    return sorted(one.title for one in list_entries(project, ListQuery()).entries)


@pytest.mark.parametrize("damage", DAMAGES)
def test_whoever_meets_damage_mends_it_and_nothing_that_was_saved_is_lost(home, damage):
    file = memory_file(home, root_of(home))
    DAMAGES[damage](file)
    with closing(ProjectShelf(home, open_project)) as shelf:
        told = list(mend_memories(home).values()) if damage == "noise in a third of the pages" else []
        if not told:
            with pytest.raises(CorruptStore, match=r"recovered: 2 notes, 1 task.* `repertoire project index`"):
                shelf.open(root_of(home))
        project = shelf.open(root_of(home))
        assert titles(project) == TITLES
        assert (project.store.root(), project.store.indexed_at()) == (root_of(home), "")
        read(project.store)
        [about] = [one for one in list_entries(project, ListQuery()).entries if one.title == TITLES[2]]
        assert [link.target for link in show_item(project, about.key).links] == ["symbol:kiln/clay.py::weigh"]
    assert len(set_aside(file)) == 1
    assert mend_memories(home) == {}


def test_what_is_deleted_is_deleted_from_the_backup_and_the_rest_stays_in_it(home):
    with closing(ProjectShelf(home, open_project)) as shelf:
        project = shelf.open(root_of(home))
        [gone] = [one for one in list_entries(project, ListQuery()).entries if one.title == TITLES[1]]
        delete_entries(project, DeleteRequest((gone.key,)))
    copy = backup_path(memory_file(home, root_of(home)))
    assert TITLES[1].encode() not in copy.read_bytes()
    with closing(sqlite3.connect(copy)) as db:
        assert sorted(title for (title,) in db.execute("SELECT title FROM entry")) == [TITLES[0], TITLES[2]]


@pytest.mark.parametrize("damage", ["emptied", "noise in a third of the pages"])
def test_what_was_rejected_is_not_proposed_again_after_a_rescue_and_what_waits_is_in_no_backup(home, damage):
    rejected, waits = (
        in_prompt(f"we decided to use {what} for the big kiln") for what in ("beeswood", "lamp oil of the old mill")
    )
    with closing(ProjectShelf(home, open_project)) as shelf:
        project = shelf.open(root_of(home))
        keep_candidates(project, sighted(project, [*rejected, *waits]))
        [name] = [one.name for one in project.store.candidates.waiting() if "beeswood" in one.said]
        review(project, ReviewRequest(reject=(name,)), embedder=None)
    file = memory_file(home, root_of(home))
    assert not [word for word in (b"beeswood", b"old mill") if word in backup_path(file).read_bytes()]
    DAMAGES[damage](file)
    assert len(mend_memories(home)) == 1
    with closing(ProjectShelf(home, open_project)) as shelf:
        project = shelf.open(root_of(home))
        assert [one.said for one in sighted(project, [*rejected, *waits]).candidates] == [waits[0].said]


def test_a_forgotten_memory_leaves_neither_backup_nor_damaged_file(home):
    file = memory_file(home, root_of(home))
    emptied(file)
    assert len(mend_memories(home)) == 1
    assert {path.name.partition(".db")[2].partition("-")[0] for path in files_of(file)} >= {"", ".backup", ".damaged"}
    for path in files_of(file):
        path.unlink()
    assert not [path for path in file.parent.iterdir() if path.name.startswith(file.name)]


def test_the_doctor_tells_sound_memories_from_damaged_ones(home):
    [sound] = memories(home)
    assert (sound.state, "1 with notes" in sound.text) == ("ok", True)
    overwrite(memory_file(home, root_of(home)), 0, random.Random(7).randbytes(PAGE))
    [damaged] = memories(home)
    assert (damaged.check, damaged.state) == ("project memory", "fail")
    assert "repertoire rescue" in damaged.mend
