"""Notes in other languages are named, merged and asked of by time as English ones are."""

from __future__ import annotations

import unicodedata

import pytest

from repertoire.app.projects.entries import save_entry
from repertoire.app.projects.entry_requests import save_request
from repertoire.app.projects.mirror import begin_mirror, compare_mirror


@pytest.fixture
def project(shelf, tmp_path):
    return shelf.open(str(tmp_path / "kiln-project"))


def saved(project, title, **more):
    return save_entry(project, save_request({"kind": "note", "title": title, **more}), embedder=None)


@pytest.mark.parametrize(
    ("title", "name"),
    [
        ("窑炉：先预热，再点火", "窑炉-先预热-再点火"),  # noqa: RUF001
        ("Öfen prüfen", "öfen-prüfen"),
        (unicodedata.normalize("NFD", "Öfen prüfen"), "öfen-prüfen"),
        ("Печь / обжиг: C:\\*?", "печь-обжиг-c"),
        ("窑" * 60, "窑" * 40),
        ("\u202e???", "untitled"),
    ],
)
def test_the_file_of_a_note_is_named_in_its_own_letters(project, tmp_path, title, name):
    note = saved(project, title).entries[0]
    begin_mirror(project)
    compare_mirror(project)
    (file,) = (tmp_path / "kiln-project/.repertoire/notes").iterdir()
    assert file.name == f"{name}-{note.key[5:11]}.md"
    assert len(file.name.encode()) < 140
    file.write_text(f"{file.read_text(encoding='utf-8')}\nSlowly.\n", encoding="utf-8")
    assert compare_mirror(project).read == [f"notes/{file.name}"]
