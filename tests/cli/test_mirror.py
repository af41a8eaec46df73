"""What a person writes into the files of a project's memory is kept, and what is not read is said by every answer."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path

import pytest

HAND = """---
title: Lost fields
reviewer: ada
order: 3
tree: {a: [yes, "no"], b: "x: y"}
depends_on: [task:nosuch]
links: {about: [soon.py, kiln.py]}
---

Keep this.
"""


@pytest.fixture
def folder(run, tmp_path) -> Path:
    """Return the folder of a new mirror, in a project with one file."""
    (tmp_path / "project/kiln.py").write_text("heat = 1\n")
    assert run("project", "init", "--no-vectors", "--quiet").returncode == 0
    assert run("project", "mirror").returncode == 0
    return tmp_path / "project" / ".repertoire"


def write(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return path


def listed(run) -> dict[str, dict[str, object]]:
    return {one["title"]: one for one in json.loads(run("project", "list", "--json").stdout)["entries"]}


def test_fields_that_only_a_person_knows_and_links_to_what_is_not_there_yet_stay_in_the_file(run, folder, tmp_path):
    file = write(folder / "tasks/lost.md", HAND)
    told = run("project", "list").stdout
    assert "tasks/lost.md: read, but its link about waits: no symbol, file" in told
    assert run("project", "save", "note", "Another").returncode == 0
    text = file.read_text(encoding="utf-8")
    for line in ("reviewer: ada", "order: 3", "  depends_on:\n  - task:nosuch", "  - file:kiln.py\n  - soon.py"):
        assert f"\n{line}\n" in text
    assert "b: 'x: y'" in text
    assert "Keep this." in text
    key = str(listed(run)["Lost fields"]["id"])
    shown = run("project", "get", key).stdout
    assert "waiting: about soon.py, depends_on task:nosuch\n" in shown
    assert "fields: reviewer: ada, order: 3" in shown

    assert run("project", "save", "task", "Lost fields", "--id", key, "--body", "And this.").returncode == 0
    changed = text.replace("Keep this.", "And this.")
    assert file.read_text(encoding="utf-8") == changed
    (tmp_path / "project/soon.py").write_text("cool = 1\n")
    assert run("project", "index", "--no-vectors", "--quiet").returncode == 0
    assert file.read_text(encoding="utf-8") == changed.replace("  - soon.py", "  - file:soon.py")
    assert "about: file:soon.py" in run("project", "get", key).stdout

    assert run("project", "forget", "--yes").returncode == 0
    assert run("project", "init", "--no-vectors", "--quiet").returncode == 0
    (tmp_path / "project/soon.py").unlink()
    assert run("project", "mirror").returncode == 0
    assert run("project", "save", "note", "Once more").returncode == 0
    assert file.read_text(encoding="utf-8") == changed.replace("  - soon.py", "  - file:soon.py")


def test_a_file_that_cannot_be_read_is_named_by_every_answer_about_entries_until_it_is_mended(run, folder):
    saved = run("project", "save", "task", "Fire the kiln", "--json")
    [entry] = json.loads(saved.stdout)["entries"]
    [file] = folder.glob("tasks/*.md")
    sound = file.read_text(encoding="utf-8")
    file.write_text(sound.replace("status: todo", "status: bogus"), encoding="utf-8")
    reason = f".repertoire/tasks/{file.name}: status 'bogus' is none of"
    for asked in (
        ("list",),
        ("get", entry["id"]),
        ("search", "kiln"),
        ("status",),
        ("save", "task", "", "--id", entry["id"], "--body", "Soon."),
        ("save", "note", "Other"),
    ):
        told = run("project", *asked)
        assert (told.returncode, reason in told.stdout) == (0, True), (asked, told.stdout)
    assert "bogus" in file.read_text(encoding="utf-8")
    for number in range(5):
        write(folder / f"notes/{number}.md", "no front matter\n")
    assert "3 more files of the mirror; `repertoire project mirror` names them" in run("project", "list").stdout
    for number in range(5):
        (folder / f"notes/{number}.md").unlink()
    file.write_text(sound, encoding="utf-8")
    assert ".repertoire" not in run("project", "list").stdout


def test_entries_that_lie_in_a_fresh_clone_are_told_of_until_they_are_read(run, folder, tmp_path):
    for title in ("Fire the kiln", "Dig clay"):
        assert run("project", "save", "task", title).returncode == 0
    clone = shutil.copytree(tmp_path / "project", tmp_path / "clone")
    told = ".repertoire holds 2 files of entries that are not in this memory: `repertoire project mirror` reads them"
    begun = run("project", "init", "--no-vectors", "--quiet", "--json", cwd=clone)
    assert (begun.returncode, told in begun.stderr) == (0, True)
    for asked in (("list",), ("search", "kiln"), ("status",)):
        assert told in run("project", *asked, cwd=clone).stdout
    assert told in run("project", "save", "task", "Weigh clay", cwd=clone).stdout
    assert [one["title"] for one in json.loads(run("project", "list", "--json", cwd=clone).stdout)["entries"]] == [
        "Weigh clay"
    ]
    assert "1 file written, 2 read" in run("project", "mirror", cwd=clone).stdout
    assert told not in run("project", "status", cwd=clone).stdout
    assert run("project", "mirror", "--off").returncode == 0
    assert told not in run("project", "status").stdout


def test_in_a_linked_worktree_it_is_said_whose_files_the_mirror_writes(run, folder, tmp_path):
    project, beside = tmp_path / "project", tmp_path / "beside"
    git = ("git", "-C", str(project), "-c", "user.name=a", "-c", "user.email=a@b.c")
    for words in (("init", "-q"), ("add", "."), ("commit", "-qm", "one"), ("worktree", "add", "-q", str(beside))):
        subprocess.run([*git, *words], check=True, capture_output=True)
    told = "files of entries are written and read in the main worktree alone, not in this one: "
    assert f"Note: {told}" in run("project", "save", "task", "Fire the kiln", cwd=beside).stdout
    assert f".repertoire: {told}" in run("project", "mirror", cwd=beside).stdout
    assert told not in run("project", "save", "task", "Dig clay").stdout
    assert told not in run("project", "list", cwd=beside).stdout
    assert not (beside / ".repertoire/tasks").exists()
