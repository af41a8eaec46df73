"""Shared by tests of a session's start: a project, a store, and the text that the session gets."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from repertoire.domain.component import SourceInfo
from repertoire.store.database import Store
from sample_home import NOW, SOURCE, component, record_of

HOOK = Path(__file__).parents[2] / "hooks" / "session_start.py"
FASTAPI = {"requirements.txt": "fastapi==0.115.0\nsqlalchemy==2.0.36\n"}
LONGEST_HINT = 1500
# manifests of what once held the interpreter's lock for seconds to minutes, and their like
HOSTILE = {
    "pyproject.toml": "\n" * 60_000,
    "part/pyproject.toml": '"a["' * 15_000,
    "Package.swift": ".package(" * 7_000,
    "part/Package.swift": f'.package(url: "{"a" * 60_000}',
    "setup.py": '"a' + " " * 60_000,
    "setup.cfg": " \n" * 30_000,
    "requirements.txt": "a" * 30_000 + " " * 30_000 + "/",
    "requirements-dev.txt": "~" * 60_000,
    "package.json": '{"a":' * 12_000,
    "composer.json": "0.0" * 20_000,
    "go.mod": "a." * 30_000,
    "Cargo.toml": "[" + "a." * 30_000,
    "build.gradle": '"a:' * 20_000,
    "kit.gemspec": "add_dependency" + " " * 60_000,
    "pom.xml": "<groupId>" + " " * 60_000,
    "docker-compose.yml": "image: " + "a/" * 30_000,
    "App.csproj": "<" * 60_000,
}

Run = Callable[..., subprocess.CompletedProcess[str]]


def make_project(folder: Path, files: dict[str, str]) -> Path:
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return folder


def store_with(home: Path, **parts: object) -> None:
    """Fill a store in which two components provide what the FastAPI project uses, and more on request."""
    home.mkdir(exist_ok=True)
    records = [
        record_of(component("skill", "fastapi-templates", "Starts FastAPI services.", **parts), provides=["fastapi"]),
        record_of(component("agent", "orm-reviewer", "Reviews SQLAlchemy models."), provides=["orm"]),
        record_of(component("skill", "rails-models", "Writes Rails models."), provides=["rails", "orm"]),
    ]
    with Store.open(home / "repertoire.db") as store:
        store.sources.write(SOURCE, records, [], derived=[], now=NOW)


USER = SourceInfo("user:~/.claude", "user", "~/.claude")


def own_copy(home: Path, info: SourceInfo = USER) -> str:
    """Put an exact copy of the FastAPI skill among what is installed, and return its id."""
    with Store.open(home / "repertoire.db") as store:
        original = store.graph.by_key(f"{SOURCE.key}:skills/fastapi-templates.md")
        assert original is not None
        copy = replace(original.component, id=f"{info.key}:skills/f/SKILL.md", installed=True, install=())
        store.sources.write(info, [record_of(copy, provides=["fastapi"])], [], derived=[], now=NOW)
    return copy.id


def context(done: subprocess.CompletedProcess[str]) -> str:
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    if not done.stdout:
        return ""
    output = json.loads(done.stdout)["hookSpecificOutput"]
    assert output["hookEventName"] == "SessionStart"
    assert 0 < len(output["additionalContext"]) < LONGEST_HINT
    return str(output["additionalContext"])


def items(text: str) -> list[str]:
    return [line for line in text.splitlines() if line.startswith("- ")]
