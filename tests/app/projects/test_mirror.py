"""Entries and their files stay the same, whoever changes them; what both sides changed is kept as both."""

from __future__ import annotations

import json
import shutil
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.projects.small_project import begin, read, write
from examples import examples
from repertoire.app.clock import now
from repertoire.app.projects.entries import delete_entries, list_entries, move_entries, save_entry
from repertoire.app.projects.entry_requests import DeleteRequest, ListQuery, MoveRequest, SaveRequest, save_request
from repertoire.app.projects.mirror import begin_mirror, compare_mirror, end_mirror, follow_mirror
from repertoire.app.projects.mirror_text import file_of_entry, read_entry_file
from repertoire.app.projects.places import memory_file
from repertoire.domain.errors import StoreError
from repertoire.domain.project import ENTRIES, Entry


@pytest.fixture
def project(project):
    begin_mirror(project)
    return project


def saved(project, kind, title, **more):
    return save_entry(project, save_request({"kind": kind, "title": title, **more}), embedder=None).entries[0]


def entries(project, **query):
    return {one.title: one for one in list_entries(project, ListQuery(**query)).entries}


def state(project):
    """What both sides know of every entry, by its id."""
    links = project.store.entries.links()
    return {one.key: file_of_entry(one, links) for one in project.store.entries.all(ENTRIES)}


def mirrored(folder):
    return {path.relative_to(folder).as_posix() for path in folder.rglob("*.md")}


def edit(path: Path, old: str, new: str) -> None:
    text = path.read_text(encoding="utf-8")
    assert old in text
    path.write_text(text.replace(old, new), encoding="utf-8")


def test_an_entry_has_a_file_that_a_person_may_edit_rename_and_delete(project, folder):
    weigh = saved(project, "note", "Weigh clay first", body="Wet clay is heavy.", category="decision", about=["weigh"])
    fire = saved(project, "task", "Fire the kiln", priority=1, tags=["heat"])
    report = compare_mirror(project)
    assert sorted(report.written) == sorted(mirrored(folder))
    note = folder / f"notes/weigh-clay-first-{weigh.key[5:11]}.md"
    task = folder / f"tasks/fire-the-kiln-{fire.key[5:11]}.md"
    assert "symbol:kiln/clay.py::weigh" in note.read_text(encoding="utf-8")
    edit(note, "Wet clay is heavy.", "Wet clay is heavy: wait a day.")
    edit(task, "status: todo", "status: doing")
    task.rename(folder / "tasks" / "fire.md")
    report = compare_mirror(project)
    assert sorted(report.read) == ["notes/" + note.name, "tasks/fire.md"]
    assert project.store.entries.get(weigh.key).body == "Wet clay is heavy: wait a day."
    assert (entries(project)["Fire the kiln"].status, report.written, report.skipped) == ("doing", [], {})
    (folder / "tasks" / "fire.md").unlink()
    assert compare_mirror(project).deleted == ["tasks/fire.md"]
    assert list(entries(project)) == ["Weigh clay first"]
    assert compare_mirror(project) == type(report)(str(folder))


def test_what_changes_in_the_memory_changes_its_file_and_nothing_is_done_twice(project, folder):
    fire = saved(project, "task", "Fire the kiln")
    assert follow_mirror(project) is not None
    assert follow_mirror(project) is None
    move_entries(project, MoveRequest((fire.key,), "done"))
    assert len(follow_mirror(project).written) == 1
    [file] = mirrored(folder)
    assert "status: done" in (folder / file).read_text(encoding="utf-8")
    delete_entries(project, DeleteRequest((fire.key,)))
    assert follow_mirror(project).deleted == [file]
    assert mirrored(folder) == set()
    log = [json.loads(line) for line in (folder / "log.jsonl").read_text(encoding="utf-8").splitlines()]
    assert [one["did"] for one in log] == ["written", "written", "deleted"]


def test_where_both_sides_changed_both_are_kept_and_named(project, folder):
    glaze = saved(project, "note", "Glaze", body="Lead-free.")
    compare_mirror(project)
    [file] = mirrored(folder)
    edit(folder / file, "Lead-free.", "Lead-free since May.")
    save_entry(project, SaveRequest(key=glaze.key, body="Lead-free by law."), embedder=None)
    [kept] = compare_mirror(project).conflicts
    assert project.store.entries.get(glaze.key).body == "Lead-free since May."
    other = project.store.entries.get(kept)
    assert (other.body, other.title) == ("Lead-free by law.", "Glaze (as the memory had it at version 2)")
    assert "conflict" in other.tags
    assert len(mirrored(folder)) == 2
    report = compare_mirror(project)
    assert (report.written, report.read, report.conflicts) == ([], [], [])


def test_a_file_made_by_hand_becomes_an_entry_and_a_wrong_one_says_why_and_stays(project, folder):
    write(
        folder,
        {
            "notes/oven.md": "---\ntitle: The oven is old\ncategory: fact\n---\n\nBuilt in 1970.\n",
            "tasks/clean.md": "---\ntitle: Clean it\npriority: 0\ncolour: red\ndepends_on: [nowhere]\n---\n",
            "tasks/none.md": "Clean it\n",
            "tasks/state.md": "---\ntitle: x\nstatus: flying\n---\n",
            "tasks/yaml.md": "---\ntitle: [x\n---\n",
            "tasks/id.md": "---\nid: task:../../etc\ntitle: x\n---\n",
            "songs/one.md": "---\ntitle: x\n---\n",
            "notes/large.md": "---\ntitle: x\n---\n" + "x" * 70_000,
            "README.md": "Not an entry.\n",
        },
    )
    (folder / "notes" / "binary.md").write_bytes(b"\x00\xff")
    (folder / "notes" / "link.md").symlink_to(folder.parent / "README.md")
    before = {path: path.read_bytes() for path in folder.rglob("*.md")}
    report = compare_mirror(project)
    assert sorted(entries(project)) == ["Clean it", "The oven is old"]
    assert entries(project)["The oven is old"].data == {"category": "fact"}
    assert {path: why.partition(",")[0].partition(":")[0] for path, why in report.skipped.items()} == {
        "tasks/clean.md": "read",
        "tasks/none.md": "it has no front matter",
        "tasks/state.md": "status 'flying' is none of backlog",
        "tasks/yaml.md": "its front matter is not YAML (did not find expected '",
        "tasks/id.md": "id 'task",
        "songs/one.md": "kind 'song' is none of note",
        "notes/large.md": "larger than 64",
        "notes/binary.md": "it is no text in UTF-8",
        "notes/link.md": report.skipped["notes/link.md"].partition(",")[0].partition(":")[0],
    }
    changed = {path.name for path, content in before.items() if path.read_bytes() != content}
    assert changed == {"oven.md", "clean.md"}, "both got an id"
    assert entries(project)["The oven is old"].key in (folder / "notes/oven.md").read_text(encoding="utf-8")
    assert compare_mirror(project).read == []


def test_a_copy_of_a_file_is_not_taken_for_the_entry_it_was_copied_from(project, folder):
    saved(project, "task", "Fire the kiln")
    compare_mirror(project)
    [file] = mirrored(folder)
    shutil.copy(folder / file, folder / "tasks" / "zz.md")
    edit(folder / "tasks" / "zz.md", "Fire the kiln", "Fire it again")
    assert "leave the id out" in compare_mirror(project).skipped["tasks/zz.md"]
    assert list(entries(project)) == ["Fire the kiln"]


def test_a_folder_that_is_gone_whole_is_written_again(project, folder):
    saved(project, "task", "Fire the kiln")
    compare_mirror(project)
    shutil.rmtree(folder)
    assert len(compare_mirror(project).written) == 1
    assert list(entries(project)) == ["Fire the kiln"]


def test_a_memory_that_is_lost_comes_back_from_its_files(shelf, project, folder, tmp_path):
    clay = saved(project, "task", "Dig clay", body="From the pit.", due="2030-01-02")
    saved(project, "task", "Turn a pot", depends_on=[clay.key], estimate="2h")
    saved(project, "procedure", "Fire", steps=["heat", "wait: long", "- cool"], triggers=["pots"], about=["weigh"])
    saved(project, "note", "Old", body="one")
    saved(project, "note", "New", supersedes=[entries(project)["Old"].key])
    compare_mirror(project)
    before, files = state(project), mirrored(folder)
    again = lost(shelf, project, tmp_path)
    assert entries(again) == {}
    assert len(follow_mirror(again).read) == 5
    assert (state(again), mirrored(folder)) == (before, files)


def lost(shelf, project, tmp_path):
    """Return the memory of a project whose own was deleted with its backup, read again from the project."""
    root = project.root
    shelf.release(root)
    file = memory_file(tmp_path / "home", root)
    for path in (file, *file.parent.glob(f"{file.name}-*"), file.with_name(f"{file.name}.backup")):
        path.unlink(missing_ok=True)
    with begin(tmp_path / "home", Path(root)) as memory:
        read(memory)
    return shelf.open(root)


def known(project):
    """What no entry's file tells: times, counts, credit and merges."""
    store = project.store
    return (
        {one.key: (one.changed, dict(one.data)) for one in store.entries.all(ENTRIES)},
        store.credits.all(),
        {key: [(one.kept.title, one.new.title, one.links) for one in of] for key, of in store.merges.all().items()},
    )


def test_a_lost_memory_knows_again_when_things_changed_what_proved_itself_and_what_became_one(
    shelf, project, folder, tmp_path
):
    fire = saved(project, "procedure", "Fire", steps=["heat"], about=["weigh"])
    save_entry(project, SaveRequest("", fire.key, used=True), embedder=None)
    said = "Pots dry a full week in the yard before anybody fires them in the big kiln"
    note = saved(project, "note", said, about=["kiln/heat.py"])
    saved(project, "note", f"{said} slowly", about=["weigh"])
    old = replace(project.store.entries.get(note.key), changed="2026-01-02T03:04:05Z")
    project.store.entries.put(old, ["", ""], now=old.changed)
    compare_mirror(project)
    before = known(project)
    assert before[1]["symbol:kiln/clay.py::weigh"] == 1.0
    assert [len(of) for of in before[2].values()] == [1]
    again = lost(shelf, project, tmp_path)
    follow_mirror(again)
    assert known(again) == before
    apart = save_entry(again, SaveRequest("", note.key, apart=True), embedder=None).entries
    assert [one.title for one in apart] == [said, f"{said} slowly"]
    text = (folder / "history.jsonl").read_text(encoding="utf-8")
    compare_mirror(again)
    assert text != (folder / "history.jsonl").read_text(encoding="utf-8")
    assert "merges" not in (folder / "history.jsonl").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    "line",
    [
        "no JSON",
        "[1]",
        '{"id": 3}',
        '{"id": "KEY", "uses": true, "credit": NaN, "times_said": -4, "changed": "soon"}',
        '{"id": "KEY", "uses": 1e999, "merges": [1, {"kept": 4}, {"kept": "---\\ntitle: a\\n---\\n", "new": []}]}',
        '{"id": "KEY", "changed": "9999-01-01T00:00:00Z", "merges": {"kept": []}, "credit": "much"}',
    ],
)
def test_what_is_wrong_in_the_history_is_passed_over(shelf, project, folder, tmp_path, line):
    key = saved(project, "note", "Glaze is thick").key
    compare_mirror(project)
    (folder / "history.jsonl").write_text(line.replace("KEY", key) + "\n", encoding="utf-8")
    again = lost(shelf, project, tmp_path)
    assert follow_mirror(again).skipped == {}
    entry = again.store.entries.get(key)
    assert (entry.title, dict(entry.data)) == ("Glaze is thick", {})
    assert entry.changed <= now()
    assert again.store.merges.all() == {}


def test_of_two_lines_about_the_same_the_higher_counts_hold(shelf, project, folder, tmp_path):
    key = saved(project, "procedure", "Fire", steps=["heat"]).key
    compare_mirror(project)
    lines = [{"id": key, "uses": uses, "credit": worth} for uses, worth in ((3, 0.5), (2, 4.0))]
    (folder / "history.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    again = lost(shelf, project, tmp_path)
    follow_mirror(again)
    assert {"uses": 3, "credit": 4.0}.items() <= again.store.entries.get(key).data.items()
    assert sum(key in line for line in (folder / "history.jsonl").read_text(encoding="utf-8").split("\n")) == 1


@pytest.fixture
def git(project):
    """Return a function that runs git in the project, whose first branch is `main`."""

    def run(*arguments: str) -> str:
        as_someone = ("-c", "user.name=a", "-c", "user.email=a@b.c")
        command = ["git", "-C", project.root, *as_someone, *arguments]
        return subprocess.run(command, check=True, capture_output=True, text=True).stdout

    run("init", "-q", "-b", "main")
    return run


def test_a_question_leaves_the_files_alone_so_that_git_can_change_the_branch(project, folder, git):
    git("commit", "-q", "--allow-empty", "-m", "nothing")
    git("checkout", "-qb", "first")
    saved(project, "task", "Fire the kiln")
    compare_mirror(project)
    git("add", ".repertoire")
    git("commit", "-qm", "first")
    git("checkout", "-qb", "second")
    steps = saved(project, "procedure", "Fire it", steps=["heat"])
    save_entry(project, SaveRequest("", steps.key, used=True), embedder=None)
    compare_mirror(project)
    known = project.store.entries.get(steps.key)
    git("add", ".repertoire")
    git("commit", "-qm", "second")

    git("checkout", "-q", "first")
    follow_mirror(project, write=False)
    assert list(entries(project)) == ["Fire the kiln"]
    assert git("status", "--short", ".repertoire") == ""
    git("checkout", "-q", "main")
    assert not folder.exists()
    assert "gone" in follow_mirror(project).skipped["."]
    assert not folder.exists()
    git("checkout", "-q", "second")
    follow_mirror(project, write=False)
    assert git("status", "--short", ".repertoire") == ""
    assert sorted(entries(project)) == ["Fire it", "Fire the kiln"]
    again = project.store.entries.get(steps.key)
    assert (again.data, again.changed) == (known.data, known.changed)


def test_what_a_question_read_of_a_file_made_by_hand_is_written_with_its_id_at_the_next_change(project, folder):
    compare_mirror(project)
    file = folder / "notes/glaze.md"
    write(folder, {"notes/glaze.md": "---\ntitle: Glaze\n---\nNo lead.\n"})
    follow_mirror(project, write=False)
    [note] = entries(project).values()
    assert note.key not in file.read_text(encoding="utf-8")
    edit(file, "No lead.", "No lead, no zinc.")
    follow_mirror(project, write=False)
    assert [one.key for one in entries(project).values()] == [note.key]
    saved(project, "task", "Fire the kiln")
    follow_mirror(project)
    assert note.key in file.read_text(encoding="utf-8")
    assert "no zinc" in file.read_text(encoding="utf-8")


def test_tasks_of_two_branches_are_all_there_after_git_merged_them(project, git):
    def commit(message: str) -> None:
        git("add", ".repertoire")
        git("commit", "-qm", message)

    clay = saved(project, "task", "Dig clay")
    compare_mirror(project)
    commit("clay")
    git("checkout", "-qb", "pots")
    saved(project, "task", "Turn a pot", depends_on=[clay.key])
    compare_mirror(project)
    commit("pot")
    git("checkout", "-q", "main")
    compare_mirror(project)
    assert list(entries(project)) == ["Dig clay"]
    saved(project, "task", "Sell it", depends_on=[clay.key])
    move_entries(project, MoveRequest((clay.key,), "done"))
    compare_mirror(project)
    commit("sell")
    git("merge", "-q", "-m", "both", "pots")
    report = compare_mirror(project)
    assert (report.skipped, report.conflicts) == ({}, [])
    assert sorted(entries(project, ready=True)) == ["Sell it", "Turn a pot"]
    assert entries(project)["Dig clay"].status == "done"


@pytest.mark.parametrize("link", [".", "tasks", "log.jsonl", "history.jsonl"])
def test_nothing_is_written_through_a_link(project, folder, tmp_path, link):
    outside = tmp_path / "outside"
    outside.mkdir()
    saved(project, "task", "Fire the kiln")
    path = folder / link if link != "." else folder
    path.parent.mkdir(exist_ok=True)
    path.symlink_to(outside if "." not in link[1:] else outside / "file")
    with pytest.raises(StoreError, match="is a link"):
        compare_mirror(project)
    assert list(outside.iterdir()) == []


def test_the_mirror_is_not_read_as_a_document_of_the_project(project, folder):
    saved(project, "note", "Glaze", body="Lead-free.")
    compare_mirror(project)
    read(project.store)
    assert not [path for path in project.store.known() if path.startswith(".repertoire")]


def test_without_a_mirror_no_file_is_written(project, folder):
    assert end_mirror(project)
    saved(project, "note", "Glaze")
    assert follow_mirror(project) is None
    assert not folder.exists()


WORDS = st.text(st.characters(exclude_categories=("Cs", "Cc")), min_size=1, max_size=40)
TEXT = st.text(st.characters(exclude_categories=("Cs", "Cc"), include_characters="\n\t"), max_size=200)

MARKS = ("<<<<<<< a", ">>>>>>>", "\\>>>>>>> b", "\\\\<<<<<<<", "=======", "")


@examples(100)
@given(
    title=WORDS.map(lambda text: " ".join(text.split()) or "x"),
    body=st.one_of(TEXT, st.lists(st.sampled_from(MARKS)).map("\n".join)).map(str.strip),
    kind=st.sampled_from(ENTRIES),
    priority=st.integers(0, 4),
    tags=st.lists(WORDS.map(lambda text: text.strip() or "x"), max_size=3, unique=True),
    steps=st.lists(TEXT.map(str.strip).filter(bool), max_size=3),
)
def test_any_entry_is_read_from_its_file_as_it_was(title, body, kind, priority, tags, steps):
    data = {"steps": steps} if steps else {}
    status = "todo" if kind in ("task", "epic") else "active"
    entry = Entry(f"{kind}:0123456789ab", kind, title, body, tuple(tags), status, priority, data, created="2030")
    told = read_entry_file(file_of_entry(entry, ()), "elsewhere")
    assert (told.key, told.kind, told.title, told.body) == (entry.key, kind, title, body)
    assert (told.status, told.priority, told.tags, told.data) == (status, priority, tuple(tags), data)
