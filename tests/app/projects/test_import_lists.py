"""What is indented in a list of things to do is a task too where it has a box to tick, and text elsewhere."""

from __future__ import annotations

import pytest

from app.projects.small_project import write
from repertoire.app.projects.entries import list_entries, move_entries, save_entry
from repertoire.app.projects.entry_requests import ListQuery, MoveRequest, SaveRequest
from repertoire.app.projects.import_entries import DIGEST, SOURCE, import_entries
from repertoire.domain.digest import digest_of

TODO = """# Soon
- [ ] Release
  with care
  - [ ] sign
    by hand
    - [x] find the key
  - [x] tag
  - plain
- [x] Publish
\t- [ ] sign
- [ ] Rest
"""


@pytest.fixture
def root(tmp_path):
    return write(tmp_path / "kiln-project", {"TODO.md": TODO})


def tasks(project):
    """Return the tasks by title, and by the item that they are part of where they are below one."""
    return {one.title + one.body.partition("Part of")[2]: one for one in list_entries(project, ListQuery()).entries}


def blocked(project):
    titles = {one.key: title for title, one in tasks(project).items()}
    return {(titles[one.source], titles[one.target]) for one in project.store.entries.links()}


def test_an_indented_item_with_a_box_is_a_task_that_holds_up_the_one_above(project, root):
    report = import_entries(project, ("TODO.md",))
    found = tasks(project)
    assert (len(report.added), report.skipped) == (7, {})
    assert {title: one.status for title, one in found.items()} == {
        "Release": "todo",
        "sign: Release": "todo",
        "find the key: sign": "done",
        "tag: Release": "done",
        "Publish": "done",
        "sign: Publish": "todo",
        "Rest": "todo",
    }
    assert found["Release"].body == "with care\n- plain"
    assert found["sign: Release"].body == "by hand\nPart of: Release"
    assert blocked(project) == {
        ("sign: Release", "Release"),
        ("tag: Release", "Release"),
        ("find the key: sign", "sign: Release"),
        ("sign: Publish", "Publish"),
    }
    free = list_entries(project, ListQuery(ready=True)).entries
    assert sorted(one.title for one in free) == ["Rest", "sign", "sign"]


def test_an_indented_item_is_taken_again_alone_where_it_changed_or_what_is_above_it_did(project, root):
    import_entries(project, ("TODO.md",))
    keys = {title: one.key for title, one in tasks(project).items()}
    move_entries(project, MoveRequest((keys["Release"], keys["sign: Publish"]), "doing"))
    assert import_entries(project, ("TODO.md",)).same == 7
    write(root, {"TODO.md": TODO.replace("- [x] tag", "- [ ] tag").replace("] Publish", "] Publish all of it")})
    report = import_entries(project, ("TODO.md",))
    assert sorted(report.changed) == ["tag"]
    assert report.added == ["Publish all of it"], "a task that is done is no other in new words"
    found = tasks(project)
    assert [found[one].status for one in ("Release", "sign: Publish", "tag: Release")] == ["doing", "doing", "todo"]
    assert found["sign: Publish"].key == keys["sign: Publish"]
    assert len(found) == 8


def test_new_words_for_an_item_change_nothing_of_what_is_below_it(project, root):
    write(root, {"TODO.md": "- [ ] Release 2 (1/3)\n  - [x] write notes\n  - [ ] publish it\n"})
    import_entries(project, ("TODO.md",))
    for count in ("2/3", "3/3"):
        write(root, {"TODO.md": f"- [ ] Release 2 ({count})\n  - [x] write notes\n  - [ ] publish it\n"})
        assert import_entries(project, ("TODO.md",)).added == []
        move_entries(project, MoveRequest((tasks(project)["publish it: Release 2 (1/3)"].key,), "done"))
    assert len(tasks(project)) == 3


def test_a_list_that_an_earlier_version_read_gets_its_indented_tasks_and_changes_no_other(project, root):
    text = "with care\n- [ ] sign\nby hand\n- [x] find the key\n- [x] tag\n- plain"
    known = digest_of(repr(("task", "Release", text, ("soon",), "todo", None, ())))[:12]
    data = {SOURCE: f"TODO.md#{digest_of('Release')[:8]}", DIGEST: known}
    asked = SaveRequest("task", title="Release", body=text, tags=("soon",), status="doing", data=data)
    key = save_entry(project, asked, embedder=None).entries[0].key
    report = import_entries(project, ("TODO.md",))
    assert (len(report.added), report.changed, report.same) == (6, [], 1)
    found = tasks(project)["Release"]
    assert (found.key, found.status, found.body) == (key, "doing", text)
