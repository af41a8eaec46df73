"""The greetings of four real projects keep the suggestions that a reader judged right.

The projects have the manifests that documents of real repositories spell out; one is a whole repository. The components
are those of `real_components.py`. A change of extraction may move answers: read the new ones, and keep them with
`--snapshot-update` only where each sentence below still holds.
"""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from syrupy.assertion import SnapshotAssertion

from app.real_components import DATA, real_components
from repertoire.app.kernel import Repertoire
from repertoire.app.session.greet import SessionStart, greet

pytestmark = [
    pytest.mark.bench_data,
    pytest.mark.skipif(DATA not in os.environ, reason=f"NOT TESTED: {DATA} names no real components"),
]

_PYTHON = "wshobson+agents/plugins/python-development/commands/python-scaffold.md"
_DOCKER = "affaan-m+everything-claude-code/skills/docker-patterns/SKILL.md"
_NEXT = "wshobson+agents/plugins/javascript-typescript/commands/typescript-scaffold.md"
_RUST = "wshobson+agents/plugins/systems-programming/commands/rust-project.md"
# each project: its files, by the document and the words after which it spells them out; and why what is kept is right
MADE = {
    "a FastAPI service with Postgres and Redis in its compose file": (
        {"pyproject.toml": (_PYTHON, "**pyproject.toml**:"), "docker-compose.yml": (_DOCKER, "# docker-compose.yml")},
        "an agent and patterns for FastAPI with its ORM, and the server that reads its Redis, not another product's",
    ),
    "a Next.js application tested with Vitest": (
        {"package.json": (_NEXT, "**package.json**:"), "tsconfig.json": (_NEXT, "**tsconfig.json**:")},
        "the App Router, what writes components, and who knows both; nothing for Jest, which it does not use",
    ),
    "a command line in Rust": (
        {"Cargo.toml": (_RUST, "**Cargo.toml**:")},
        "a builder of such in clap, who writes Rust, and what mends its build; nothing that sets up new projects",
    ),
}
AS_IT_IS = ("obra+superpowers", "a plugin made of skills: how skills are written, and none of its own")


@pytest.fixture(scope="module")
def repertoire(request: pytest.FixtureRequest) -> Iterator[Repertoire]:
    with real_components(request.config) as opened:
        yield opened


@pytest.fixture
def project(tmp_path: Path) -> Path:
    return tmp_path / "project"


def spelled_out(document: str, after: str) -> str:
    """Return the block that follows some words in a document, or that they begin."""
    text = Path(os.environ[DATA], document).read_text(encoding="utf-8").partition(after)[2]
    block = re.match(r"\s*```\w*\n(.*?)```|(.*?)```", text, re.DOTALL)
    assert block is not None
    return block[1] or block[2]


def told(repertoire: Repertoire, project: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Return the heading and, of each item, what it is and why; install lines name this machine's folders."""
    monkeypatch.setenv("REPERTOIRE_HOME", str(repertoire.home))
    found = greet(SessionStart("", str(project), "startup", "2026-11-22T00:00:00Z"))
    heading = found.text.partition("\n")[0]
    return [heading, *(f"{item.name} ({item.type}): {item.why}" for item in found.items)]


@pytest.mark.parametrize("name", MADE)
def test_a_session_is_told_what_a_knowing_colleague_would_tell(
    repertoire: Repertoire, project: Path, monkeypatch: pytest.MonkeyPatch, snapshot: SnapshotAssertion, name: str
) -> None:
    files, why = MADE[name]
    project.mkdir()
    for file, (document, after) in files.items():
        (project / file).write_text(spelled_out(document, after), encoding="utf-8")
    assert [why, *told(repertoire, project, monkeypatch)] == snapshot


def test_a_plugins_own_repository_is_told_of_others_work(
    repertoire: Repertoire, project: Path, monkeypatch: pytest.MonkeyPatch, snapshot: SnapshotAssertion
) -> None:
    name, why = AS_IT_IS
    shutil.copytree(Path(os.environ[DATA], name), project)
    assert [why, *told(repertoire, project, monkeypatch)] == snapshot
