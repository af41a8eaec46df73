"""A repository inside a project is no part of it, unless it is a submodule."""

from __future__ import annotations

from pathlib import Path

from app.projects.small_project import begin, read, write
from repertoire.app.projects.left_out import OTHER_REPOSITORY, LeftOut
from repertoire.app.projects.named_files import named_files

CODE = "def fire():\n    return 1\n"
INNER = {
    ".claude/worktrees/x/.git": "gitdir: ../../../.git/worktrees/x\n",
    ".claude/worktrees/x/kiln.py": CODE,
    "vendor/clone/.git/HEAD": "ref: refs/heads/main\n",
    "vendor/clone/kiln.py": CODE,
    "libs/clay/.git": "gitdir: ../../.git/modules/clay\n",
    "libs/clay/clay.py": CODE,
    ".gitmodules": '[submodule "clay"]\n\tpath = libs/clay\n\turl = https://example.org/clay.git\n',
    "kiln.py": CODE,
}
OWN = {".gitmodules", "kiln.py", "libs/clay/.git", "libs/clay/clay.py"}


def test_worktrees_and_clones_inside_a_repository_are_left_out_and_told(tmp_path):
    root = write(tmp_path / "project", {**INNER, ".git/HEAD": "ref: refs/heads/main\n"})
    with begin(tmp_path / "home", root) as memory:
        assert read(memory).skipped == dict.fromkeys((".claude/worktrees/x", "vendor/clone"), OTHER_REPOSITORY)
        assert {*memory.known()} - {"libs/clay/.git"} == OWN - {"libs/clay/.git"}
    left_out = LeftOut(root, home=tmp_path / "home")
    assert named_files(root, [".claude/worktrees/x/kiln.py", "vendor/clone/kiln.py"], left_out) == []


def test_a_folder_of_repositories_that_is_none_itself_is_read_as_a_whole(tmp_path):
    root = write(tmp_path / "work", INNER)
    with begin(tmp_path / "home", root) as memory:
        read(memory)
        assert {path for path in memory.known() if Path(path).name == "kiln.py"} == {
            *("kiln.py", "vendor/clone/kiln.py", ".claude/worktrees/x/kiln.py")
        }
