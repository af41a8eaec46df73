"""A machine of one's own for each test: an empty home, an empty user folder, and the real command line in a process."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from cli.forked import run_forked

SERVER = Path(__file__).resolve().parents[2] / "server"
Run = Callable[..., subprocess.CompletedProcess[str]]
SETTINGS = '{ "model":"opus",\n  "hooks": {"Stop": []} }'  # as nobody's program would write it
HOOKS = {"PostToolUse": [{"matcher": "Edit", "hooks": [{"type": "command", "command": "touch ran"}]}]}


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


@pytest.fixture
def user(tmp_path: Path) -> Path:
    """Return a person's folder of Claude Code's, settings in it."""
    folder = tmp_path / "user" / ".claude"
    folder.mkdir(parents=True)
    (folder / "settings.json").write_text(SETTINGS)
    return folder


@pytest.fixture
def shelf(tmp_path: Path, skill: Callable[..., Path], run: Run, user: Path) -> Path:
    """Return a folder with a skill of three files, an agent, a hook and a server, which was read."""
    shelf = tmp_path / "the shelf"
    file = skill(shelf, "weave", "Weaves baskets from willow.")
    (file.parent / "scripts").mkdir()
    (file.parent / "scripts" / "soak.sh").write_text("#!/bin/sh\ntouch ran\n")
    (file.parent / "scripts" / "soak.sh").chmod(0o755)
    (file.parent / "logo.png").write_bytes(b"\x89PNG\x00\xff")
    (file.parent / "secrets").symlink_to("/etc/passwd")
    write(shelf / "agents" / "weaver.md", "---\nname: weaver\ndescription: Weaves what is asked for.\n---\nWeave.\n")
    write(shelf / "hooks" / "tidy.json", json.dumps({"hooks": HOOKS}))
    write(shelf / "mcp.json", json.dumps({"mcpServers": {"loom": {"command": "loom", "env": {"LOOM_KEY": "x"}}}}))
    done = run("ingest", str(shelf))
    assert done.returncode == 0, done.stderr
    return shelf


@pytest.fixture
def interruptible() -> Iterator[None]:
    """Let what is started hear Ctrl-C: a background job of a shell, as these tests may be, hands its deafness on."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


def write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


def tree(folder: Path) -> dict[str, tuple[bytes, int]]:
    """Return every file and folder below one, with what it holds and how it may be used."""
    return {
        str(path.relative_to(folder)): (path.read_bytes() if path.is_file() else b"", path.stat().st_mode)
        for path in sorted(folder.rglob("*"))
    }


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
