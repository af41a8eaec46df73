"""A machine of one's own for each test: an empty home, an empty user folder, and the real command line in a process."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from cli.forked import run_forked

SERVER = Path(__file__).resolve().parents[2] / "server"
Run = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture
def environment(tmp_path: Path) -> dict[str, str]:
    """The environment of a user who has nothing installed; a refresh may not outlive the test."""
    user = tmp_path / "user"
    user.mkdir()
    return {
        "PATH": os.environ["PATH"],
        "HOME": str(user),
        "PYTHONPATH": str(SERVER),
        "REPERTOIRE_HOME": str(tmp_path / "home"),
        "REPERTOIRE_BACKGROUND": "no",
        "LANG": "C.UTF-8",
    }


@pytest.fixture
def run(environment: dict[str, str], tmp_path: Path) -> Run:
    """Run `repertoire` with arguments, in an empty project unless told otherwise."""
    project = tmp_path / "project"
    project.mkdir()

    def call(*arguments: str, cwd: Path = project, **more: str) -> subprocess.CompletedProcess[str]:
        return run_forked(arguments, cwd, {**environment, **more})

    return call


@pytest.fixture
def skill() -> Callable[..., Path]:
    """Write a skill into a folder and return its file."""

    def write(root: Path, name: str, description: str, body: str = "Follow the steps.") -> Path:
        folder = root / "skills" / name
        folder.mkdir(parents=True, exist_ok=True)
        file = folder / "SKILL.md"
        file.write_text(f"---\nname: {name}\ndescription: {description}\n---\n\n{body}\n", encoding="utf-8")
        return file

    return write


@pytest.fixture(scope="session")
def python39() -> str:
    """Return a Python that may start the plugin and cannot carry its environment."""
    root = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv"))
    kept = (str(found) for found in root.glob("versions/3.9.*/bin/python3"))
    for candidate in filter(None, (os.environ.get("REPERTOIRE_PYTHON39"), shutil.which("python3.9"), *kept)):
        code = "import sys; sys.exit(sys.version_info[:2] != (3, 9))"
        if subprocess.run([candidate, "-c", code], capture_output=True, timeout=30, check=False).returncode == 0:
            return candidate
    pytest.skip("NOT TESTED ON PYTHON 3.9: none on PATH, and REPERTOIRE_PYTHON39 names none")
