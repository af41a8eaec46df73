"""Whether a memory is that of the project in its folder, after the history or the files were written anew."""

from __future__ import annotations

import shutil
import subprocess
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from app.projects.small_project import begin, read, write
from repertoire.app.projects.moved import take_over
from repertoire.app.projects.origin import record_origin, set_aside_other
from repertoire.app.projects.watch import Watcher
from repertoire.app.wiring import open_project
from repertoire.domain.errors import ProjectRefused
from repertoire.store.project_file import ProjectStore

FILES = {"README.md": "# Kiln\n", "kiln.py": "def fire():\n    return 1\n", "clay.py": "def dry():\n    return 2\n"}
STRANGER = {"README.md": "# Loom\n", "loom.py": "def weave():\n    return 1\n"}


def git(root: Path, *words: str) -> None:
    settings = ("-c", "user.name=A", "-c", "user.email=a@example.org", "-c", "init.defaultBranch=main")
    subprocess.run(["git", *settings, *words], cwd=root, check=True, capture_output=True)


def commit(root: Path, said: str = "Begin") -> None:
    if not (root / ".git").exists():
        git(root, "init", "-q")
    git(root, "add", "-A")
    git(root, "commit", "-q", "-m", said)


def move(root: Path) -> None:
    (root / "src").mkdir()
    for name in FILES:
        (root / name).rename(root / "src" / name)


def replace(root: Path, files: dict[str, str]) -> None:
    shutil.rmtree(root)
    write(root, files)


@pytest.fixture(params=[True, False], ids=["with git", "without git"])
def root(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    made = write(tmp_path / "kiln", FILES)
    if request.param:
        commit(made)
    return made


def index(memory: ProjectStore) -> None:
    record_origin(memory)
    read(memory)


@pytest.fixture
def committed(tmp_path: Path) -> Iterator[tuple[Path, ProjectStore]]:
    """Return a repository and its memory, which has read it."""
    root = write(tmp_path / "kiln", FILES)
    commit(root)
    with begin(tmp_path / "home", root) as memory:
        index(memory)
        yield root, memory


def is_kept(memory: ProjectStore, root: Path) -> bool:
    """Tell whether an index accepts the memory and an init keeps it."""
    try:
        index(memory)
    except ProjectRefused:
        return False
    return set_aside_other(memory.path.parent.parent, str(root), open_project) is None


def test_files_that_were_all_moved_in_a_new_history_are_the_same_project(root, tmp_path):
    with begin(tmp_path / "home", root) as memory:
        index(memory)
        was_git = (root / ".git").exists()
        shutil.rmtree(root / ".git", ignore_errors=True)
        move(root)
        if was_git:
            commit(root)
        assert set_aside_other(tmp_path / "home", str(root), open_project) is None
        assert is_kept(memory, root)


def test_a_stranger_is_another_project_and_a_memory_that_was_set_aside_can_be_taken_back(root, tmp_path):
    home, was_git = tmp_path / "home", (root / ".git").exists()
    with begin(home, root) as memory:
        index(memory)
    replace(root, {"loom.py": STRANGER["loom.py"]})
    if was_git:
        commit(root)
    aside = set_aside_other(home, str(root), open_project)
    assert aside is not None
    with begin(home, root) as memory:
        index(memory)
    take_over(home, str(aside.file), str(root), open_project)
    with begin(home, root) as memory:
        assert is_kept(memory, root)


def test_a_history_that_was_squashed_is_remembered_so_that_a_formatter_may_change_all_files(committed):
    root, memory = committed
    shutil.rmtree(root / ".git")
    commit(root, "Squash")
    assert is_kept(memory, root)
    write(root, {name: f"{text}\n" for name, text in FILES.items()})
    assert is_kept(memory, root)


def test_a_branch_with_a_history_and_files_of_its_own_is_the_same_project_in_both_directions(committed):
    root, memory = committed
    git(root, "checkout", "-q", "--orphan", "gh-pages")
    git(root, "rm", "-rfq", ".")
    assert is_kept(memory, root)
    write(root, {"index.html": "<p>Kiln</p>\n"})
    commit(root)
    assert is_kept(memory, root)
    git(root, "checkout", "-q", "main")
    assert is_kept(memory, root)


def test_a_repository_with_other_contents_is_another_project_though_names_and_empty_files_are_the_same(tmp_path):
    root = write(tmp_path / "kiln", {**FILES, "__init__.py": ""})
    commit(root)
    with begin(tmp_path / "home", root) as memory:
        index(memory)
        replace(root, {**STRANGER, "__init__.py": ""})
        commit(root)
        assert not is_kept(memory, root)


@pytest.mark.parametrize("meanwhile", [False, True], ids=["before", "meanwhile"])
def test_a_watcher_ends_before_it_reads_another_repository(tmp_path, meanwhile):
    root, other = write(tmp_path / "kiln", FILES), write(tmp_path / "loom", STRANGER)
    commit(root)
    commit(other)
    looked, stop = threading.Semaphore(0), threading.Event()

    def swap() -> None:
        for _ in range(2 * meanwhile):  # the watcher looks at all files twice before it trusts what it is told
            looked.acquire(timeout=30)
        shutil.rmtree(root / ".git")
        for name in FILES:
            (root / name).unlink()
        for name in (".git", *STRANGER):
            (other / name).rename(root / name)

    with begin(tmp_path / "home", root) as memory:
        index(memory)
        if not meanwhile:
            swap()
        threading.Thread(target=swap if meanwhile else stop.wait, daemon=True).start()
        with pytest.raises(ProjectRefused, match="that of another project"):
            Watcher(memory, most_files=1_000, told=lambda _: looked.release()).run(stop)
        stop.set()
        assert "loom.py" not in memory.known()
