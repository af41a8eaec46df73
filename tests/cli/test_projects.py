"""The memory of a project at the command line."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

from privileges import held_back
from repertoire.app.projects.places import memory_file


def test_a_program_of_a_thousand_chained_calls_is_read(run, tmp_path):
    calls = "".join(f'    .option("opt{number}", {{}})\n' for number in range(1_000))
    (tmp_path / "project/cli.js").write_text(f"function options(yargs) {{\n  return yargs\n{calls}}}\n")
    assert run("project", "init", "--no-vectors", "--quiet").returncode == 0
    assert "options" in run("project", "outline", "cli.js").stdout


def test_a_project_under_another_name_is_told_of_its_memory_and_takes_it_over(run, tmp_path):
    project, renamed = tmp_path / "project", tmp_path / "renamed"
    (project / "kiln.py").write_text("def fire():\n    return 1\n")
    assert run("project", "init", "--no-vectors", "--quiet").returncode == 0
    assert run("project", "save", "note", "The kiln cools slowly", "--about", "kiln.py").returncode == 0
    assert run("project", "mirror").returncode == 0
    refused = run("project", "init", "--from", str(project), "--project", str(tmp_path), "--quiet")
    assert refused.returncode != 0
    assert "is still there and keeps its memory" in refused.stderr

    project.rename(renamed)
    project.mkdir()  # the folder that commands run in
    begun = run("project", "init", "--no-vectors", "--quiet", "--project", str(renamed))
    assert "takes it over" not in begun.stderr  # what it was is there, though empty
    project.rmdir()
    assert run("project", "forget", "--yes", "--project", str(renamed), cwd=tmp_path).returncode == 0
    begun = run("project", "init", "--no-vectors", "--quiet", "--project", str(renamed), cwd=tmp_path)
    assert f"`repertoire project init --from {project}` takes it over" in begun.stderr

    now = memory_file(tmp_path / "home", str(renamed))
    for left in (".taken", ".taken-wal"):  # by a killed process
        now.with_name(now.name + left).write_bytes(b"left")
    taken = run("project", "init", "--from", str(project), "--no-vectors", "--quiet", cwd=renamed)
    assert "0 files new or changed, 0 renamed, 0 gone" in taken.stdout
    assert "kiln.py" in run("project", "search", "kiln cools", cwd=renamed).stdout
    assert [*now.parent.glob("*.db")] == [now]
    assert now.stat().st_mode & 0o777 == 0o600

    assert run("project", "save", "note", "Glaze cracks in the cold", cwd=renamed).returncode == 0
    assert [*renamed.glob(".repertoire/notes/glaze-cracks*.md")]  # the mirror goes on

    again = run("project", "init", "--from", str(project), "--quiet", cwd=renamed)
    assert "has no project memory in this home" in again.stderr


def test_whether_the_mirror_is_on_is_told_by_what_ends_it_and_by_the_state_of_the_memory(run, tmp_path):
    def state() -> tuple[bool, str]:
        mirrored = json.loads(run("project", "status", "--json").stdout)["mirrored"]
        return mirrored, run("project", "status").stdout.splitlines()[-1]

    assert run("project", "init", "--no-vectors", "--quiet").returncode == 0
    assert run("project", "save", "note", "The kiln cools slowly").returncode == 0
    assert state() == (False, "mirror: off")
    assert run("project", "mirror", "--off").stdout == "The mirror was not on\n"
    assert json.loads(run("project", "mirror", "--json").stdout)["on"]
    assert state() == (True, "mirror: on")

    folder = tmp_path / "project" / ".repertoire"
    assert run("project", "mirror", "--off").stdout == f"The mirror is off; the files in {folder} stay\n"
    assert [*folder.glob("notes/*.md")]
    assert state() == (False, "mirror: off")
    assert not json.loads(run("project", "mirror", "--off", "--json").stdout)["on"]


def test_what_is_not_there_is_answered_with_where_to_look_and_an_empty_file_has_no_line(run, tmp_path):
    (tmp_path / "project/empty.py").write_text("")
    (tmp_path / "project/kiln.py").write_text("heat = 1\n")
    assert run("project", "init", "--no-vectors", "--quiet").returncode == 0
    assert run("project", "files").stdout == "empty.py  python  0 lines  0 bytes\nkiln.py  python  1 line  9 bytes\n"
    assert "`repertoire project search` in a shell" in run("project", "symbols", "fire").stdout
    assert "`repertoire project files` in a shell" in run("project", "files", "gone.py").stdout


def test_what_is_linked_is_listed_by_an_id_its_beginning_or_a_path_and_what_there_is_not_is_refused(run, tmp_path):
    (tmp_path / "project/kiln.py").write_text("heat = 1\n")
    assert run("project", "init", "--no-vectors", "--quiet").returncode == 0
    run("project", "save", "note", "The kiln cools slowly", "--about", "kiln.py")
    [note] = json.loads(run("project", "list", "--json").stdout)["entries"]
    run("project", "save", "note", "Glaze cracks in the cold", "--about", note["id"])
    for linked, title in (("kiln.py", "kiln cools"), (note["id"], "Glaze"), (note["id"][:-1], "Glaze")):
        assert title in run("project", "list", "--linked", linked).stdout
    (tmp_path / "project/kiln.py").unlink()
    assert run("project", "index", "--no-vectors", "--quiet").returncode == 0
    assert "kiln cools" in run("project", "list", "--linked", "file:kiln.py").stdout
    assert run("project", "list", "--linked", "trace:1f0c2d3e4b5a").returncode == 0
    refused = run("project", "list", "--linked", "nope")
    assert (refused.returncode, refused.stdout) == (2, "")
    assert "no symbol, file, section, note, task or procedure has the id 'nope'" in refused.stderr


def test_an_import_names_what_came_and_what_changed(run, tmp_path):
    project = tmp_path / "project"
    (project / "TODO.md").write_text("".join(f"- [ ] Fire kiln {number}\n" for number in range(25)))
    (project / "CLAUDE.md").write_text("# Rules\n\nGlaze twice.\n")
    run("project", "init", "--no-vectors", "--quiet")
    told = run("project", "import").stdout.splitlines()
    assert told[0] == "26 entries imported, 0 changed, 0 as before"
    assert "new: Rules" in told
    assert [line for line in told if line.startswith("and ")] == ["and 6 more; --json shows them"]
    (project / "CLAUDE.md").write_text("# Rules\n\nGlaze once.\n")
    again = run("project", "import").stdout.splitlines()
    assert again == ["0 entries imported, 1 changed, 25 as before", "changed: Rules"]


def test_a_move_without_what_to_change_names_the_option(run):
    run("project", "init", "--no-vectors", "--quiet")
    for word, option in (("doing", "--status doing"), ("task:1f0c", "--status STATUS")):
        refused = run("project", "move", "task:1f0c", word)
        assert refused.returncode == 2
        assert f"add {option}, or --priority" in refused.stderr


def test_an_entry_is_deleted_only_after_it_was_shown_and_somebody_agreed(run):
    run("project", "init", "--no-vectors", "--quiet")
    for title in ("The kiln cools slowly", "Glaze cracks in the cold"):
        run("project", "save", "note", title)
    one, other = (saved["id"] for saved in json.loads(run("project", "list", "--json").stdout)["entries"])
    asked = run("project", "delete", one, other)
    assert (asked.returncode, asked.stdout) == (1, "")
    assert "The kiln cools slowly\n" in asked.stderr
    assert "Delete these 2 with their links permanently? [y/N]: " in asked.stderr
    assert "Delete it with its links permanently? [y/N]: " in run("project", "delete", one).stderr
    unknown = run("project", "delete", one, "note:gone")
    assert "Delete" not in unknown.stderr
    assert len(run("project", "list").stdout.splitlines()) == 3
    assert run("project", "delete", one, "--yes").stdout.startswith(f"deleted: {one} ")
    assert one not in run("project", "list").stdout


def test_a_mirrored_memory_that_cannot_be_written_is_still_asked(run, environment, tmp_path):
    (tmp_path / "project" / "kiln.py").write_text("def fire():\n    return 1\n")
    assert run("project", "init", "--no-vectors", "--quiet").returncode == 0
    assert run("project", "mirror").returncode == 0
    assert run("project", "save", "note", "The kiln cools slowly").returncode == 0
    folder = tmp_path / "home" / "projects"

    def call(*words: str) -> subprocess.CompletedProcess[str]:
        line = held_back([sys.executable, "-m", "repertoire", "project", *words])
        around = {**environment, "REPERTOIRE_PYTHON": sys.executable}
        return subprocess.run(line, env=around, cwd=tmp_path / "project", capture_output=True, text=True, check=False)

    for file in folder.iterdir():
        file.chmod(0o444)
    folder.chmod(0o555)
    try:
        found, refused = call("search", "kiln cools"), call("save", "note", "The kiln is hot")
    finally:
        folder.chmod(0o755)
    assert (found.returncode, found.stderr) == (0, "")
    assert "The kiln cools slowly" in found.stdout
    assert "cannot be written" in refused.stderr


def test_another_repository_in_the_place_of_a_deleted_one_begins_an_empty_memory_and_the_old_one_is_kept(run, tmp_path):
    project, elsewhere, home = tmp_path / "project", tmp_path / "elsewhere", tmp_path / "home"
    _commit(project, {"README.md": "# Kiln\n", "kiln.py": "def fire():\n    return 1\n"})
    assert run("project", "init", "--no-vectors", "--quiet").returncode == 0
    assert run("project", "save", "note", "The kiln cools slowly").returncode == 0
    assert "before" not in run("project", "init", "--no-vectors", "--quiet").stderr

    shutil.copytree(project, elsewhere)
    for path in project.iterdir():
        shutil.rmtree(path) if path.is_dir() else path.unlink()
    _commit(project, {"README.md": "# Loom\n", "loom.py": "def weave():\n    return 1\n"})
    assert "is that of another project" in run("project", "index", "--no-vectors", "--quiet").stderr
    begun = run("project", "init", "--no-vectors", "--quiet")
    kept = next(home.glob("projects/*-1.db"))
    assert f"its memory with 1 notes and tasks is kept in {kept}" in begun.stderr
    assert "kiln" not in run("project", "search", "kiln cools").stdout

    begun = run("project", "init", "--no-vectors", "--quiet", cwd=elsewhere)
    assert f"`repertoire project init --from {kept}` takes it over" in begun.stderr
    assert run("project", "init", "--from", str(kept), "--no-vectors", "--quiet", cwd=elsewhere).returncode == 0
    assert "The kiln cools slowly" in run("project", "search", "kiln cools", cwd=elsewhere).stdout
    assert not kept.exists()

    shutil.rmtree(elsewhere / ".git")  # a history that is written anew is no other project
    _commit(elsewhere, {})
    assert run("project", "index", "--no-vectors", "--quiet", cwd=elsewhere).returncode == 0
    begun = run("project", "init", "--no-vectors", "--quiet", cwd=elsewhere)
    assert "The kiln cools slowly" in run("project", "search", "kiln cools", cwd=elsewhere).stdout

    memory = memory_file(home, str(elsewhere))
    shutil.copy(memory, memory.with_stem(f"{memory.stem}-1"))  # as one that was set aside
    forgotten = run("project", "forget", "--yes", cwd=elsewhere)
    assert f"Forgot {elsewhere}: deleted its memory and 1 that was set aside (" in forgotten.stdout
    assert " files); the project's own files are as they were\n" in forgotten.stdout
    assert [*memory.parent.glob("*.db")] == [memory_file(home, str(project))]


def _commit(folder: Path, files: dict[str, str]) -> None:
    for name, text in files.items():
        (folder / name).write_text(text)
    for words in (("init", "-q"), ("add", "."), ("commit", "-q", "-m", f"Begin {sorted(files)}")):
        settings = ("-c", "user.name=A", "-c", "user.email=a@example.org")
        subprocess.run(["git", *settings, *words], cwd=folder, check=True)


def test_a_worktree_uses_the_memory_of_the_main_one_and_no_strangers(run, tmp_path):
    project, worktree, stranger = (tmp_path / name for name in ("project", "worktree", "stranger"))
    _commit(project, {"kiln.py": "def fire():\n    return 1\n"})
    subprocess.run(["git", "worktree", "add", "-q", str(worktree)], cwd=project, check=True)
    (worktree / "inside").mkdir()
    assert "no project memory" in run("project", "list", cwd=worktree).stderr
    assert run("project", "init", "--no-vectors", "--quiet").returncode == 0
    assert run("project", "save", "note", "The kiln cools slowly").returncode == 0
    for folder in (worktree, worktree / "inside"):
        assert "The kiln cools slowly" in run("project", "list", cwd=folder).stdout
    begun = run("project", "init", "--no-vectors", "--quiet", cwd=worktree)
    assert f"shares the memory of {project}" in begun.stderr
    assert len([*(tmp_path / "home").glob("projects/*.db")]) == 1
    (worktree / "kiln.py").write_text("# Hot\n\ndef fire():\n    return 2\n")
    assert "return 2" in run("project", "get", "symbol:kiln.py::fire", cwd=worktree).stdout
    assert "return 1" in run("project", "get", "symbol:kiln.py::fire").stdout
    assert "fire" in run("project", "outline", str(worktree / "kiln.py")).stdout
    (worktree / "kiln.py").unlink()
    assert "return 1" in run("project", "get", "symbol:kiln.py::fire", cwd=worktree).stdout
    refused = run("project", "forget", "--yes", cwd=worktree)
    assert (refused.returncode, f"shares the memory of {project}" in refused.stderr) == (1, True)
    assert "The kiln cools slowly" in run("project", "list").stdout

    stranger.mkdir()
    (stranger / ".git").write_bytes((worktree / ".git").read_bytes())
    assert "no project memory" in run("project", "list", cwd=stranger).stderr


def test_a_path_that_is_there_in_the_current_folder_means_what_is_there(run, tmp_path):
    project = tmp_path / "project"
    deep = project / "sub" / "deep"
    deep.mkdir(parents=True)
    for folder in (project, project / "sub"):
        (folder / "README.md").write_text(f"# Of {folder.name}\n\nKiln.\n")
    (project / "sub/TODO.md").write_text("- [ ] Sweep\n")
    (project / "kiln.py").write_text("def fire():\n    return 1\n")
    (deep / "heat.py").write_text("def warm():\n    return fire()\n")
    assert run("project", "init", "--no-vectors", "--quiet").returncode == 0
    sub = project / "sub"
    assert "# Of sub" in run("project", "get", "README.md", cwd=sub).stdout
    assert "Of sub" in run("project", "outline", "./README.md", cwd=sub).stdout
    assert "Of project" in run("project", "outline", "../README.md", cwd=sub).stdout
    assert "warm" in run("project", "outline", "heat.py", cwd=deep).stdout
    assert "fire" in run("project", "outline", "kiln.py", cwd=deep).stdout, "it is there in the project alone"
    assert "fire" in run("project", "outline", "../../kiln.py", cwd=deep).stdout
    assert "No symbol" in run("project", "symbols", "fire", "--in", ".", cwd=deep).stdout
    assert "kiln.py" not in run("project", "search", "fire", "--in", ".", cwd=deep).stdout
    assert run("project", "files", ".", cwd=deep).stdout == run("project", "files", "sub/deep").stdout
    saved = run("project", "save", "note", "Old", "--about", "README.md", "--about", "fire", cwd=sub).stdout
    assert "about file:sub/README.md" in saved
    assert "about symbol:kiln.py::fire" in saved
    [note] = json.loads(run("project", "list", "--linked", "README.md", "--json", cwd=sub).stdout)["entries"]
    assert "about file:sub/deep/heat.py" in run("project", "link", note["id"], "about", "deep/heat.py", cwd=sub).stdout
    assert "new: Sweep" in run("project", "import", "TODO.md", cwd=sub).stdout
    assert "# Of project" in run("project", "get", "README.md", "--project", str(project), cwd=sub).stdout
    assert "# Of project" in run("project", "get", "file:README.md", cwd=sub).stdout


def test_a_path_in_a_folder_of_a_linked_worktree_means_the_same_place_of_the_project(run, tmp_path):
    project, beside = tmp_path / "project", tmp_path / "beside"
    for name in ("README.md", "sub/README.md"):
        (project / name).parent.mkdir(exist_ok=True)
        (project / name).write_text(f"# {name}\n\nKiln.\n")
    git = ("git", "-C", str(project), "-c", "user.name=a", "-c", "user.email=a@b.c")
    for words in (("init", "-q"), ("add", "."), ("commit", "-qm", "one"), ("worktree", "add", "-q", str(beside))):
        subprocess.run([*git, *words], check=True, capture_output=True)
    assert run("project", "init", "--no-vectors", "--quiet").returncode == 0
    assert "# sub/README.md" in run("project", "get", "README.md", cwd=beside / "sub").stdout
    assert "# README.md" in run("project", "get", "README.md", cwd=beside).stdout


def test_the_status_counts_what_changed_since_the_project_was_read(run, tmp_path):
    (tmp_path / "project" / "kiln.py").write_text("def fire(): pass\n")
    assert run("project", "init").returncode == 0
    assert "changed since" not in run("project", "status").stdout
    (tmp_path / "project" / "kiln.py").write_text("def fire_hot(): pass\n")
    (tmp_path / "project" / "pot.py").write_text("def turn(): pass\n")
    assert "Note: 2 files changed since it was read" in run("project", "status").stdout
    assert run("project", "index").returncode == 0
    assert "changed since" not in run("project", "status").stdout
