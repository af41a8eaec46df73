"""JSON from every verb that answers: valid, alone on standard output, under keys that stay."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import click
import pytest
from click.testing import CliRunner, Result

from repertoire.cli.main import VERBS, cli
from shelf import SOURCE, filled_home

OTHER = {"serve", "completion"}  # what they print is for a client, and for a shell
ELSEWHERE = {"doctor", "eval", "trust accept", "trust eval", "model fetch"}  # need more than a shelf; in other files
ADVISORY = {"id": "OSV-1", "affected": [{"package": {"ecosystem": "npm", "name": "left-pad"}, "versions": ["1.0.0"]}]}

# what to say, and the keys that programs may count on: of an object, or of the first object of a list
PROMISED: Mapping[str, tuple[tuple[str, ...], set[str]]] = {
    "recommend": (
        ("fill PDF forms",),
        set("items near gaps why_not companions combinations install warnings fits confidence degraded".split()),
    ),
    "search": (("fill PDF forms",), set("hits fits confidence degraded combinations companions".split())),
    "explain": (
        ("pdf-forms",),
        set("stored provides needs goes_with companions conditions selections standing".split()),
    ),
    "install": (("pdf-forms", "--dry-run"), set("components files adds commands runs along notes".split())),
    "ingest": (("kit",), set("source components changed unchanged removed skipped seconds warnings".split())),
    "refresh": (("--text-only",), set("source components changed unchanged removed skipped seconds warnings".split())),
    "sources": ((), {"info", "components", "ingested_at"}),
    "status": ((), set("version home counts sources vectors".split())),
    "overlaps": ((), {"shown", "more", "dismissed"}),
    "stale": ((), {"shown", "more", "copies"}),
    "advisories": (("osv.json",), {"records", "packages", "matches"}),
    "feedback": (("pdf-forms", "ok"), {"component", "outcome", "used"}),
    "stats": ((), set("project offered selected components by_rank outcomes".split())),
    "review": ((), set()),
    "mute": (("pdf-forms",), {"targets", "scope", "undone"}),
    "trust show": ((), {"counts", "flagged"}),
    "rescue": ((), {"sound"}),
    "model show": ((), {"model", "dimensions", "bytes", "folder"}),
    "forget": (("--requests", "--yes"), {"what", "events", "home"}),
    "remove": ((SOURCE.key,), {"source", "components"}),
}


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a project with a kit and an advisory, on a machine with a shelf and nothing installed."""
    filled_home(tmp_path / "home")
    skill = tmp_path / "project" / "kit" / "skills" / "weave" / "SKILL.md"
    skill.parent.mkdir(parents=True)
    skill.write_text("---\nname: weave\ndescription: Weaves baskets from willow.\n---\nSoak the willow first.\n")
    (tmp_path / "project" / "osv.json").write_text(json.dumps(ADVISORY))
    for name in [name for name in os.environ if name.startswith(("REPERTOIRE_", "CLAUDE_"))]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("REPERTOIRE_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("REPERTOIRE_BACKGROUND", "no")
    monkeypatch.chdir(tmp_path / "project")
    return tmp_path / "project"


def commands() -> dict[str, click.Command]:
    """Return every command that does something, by its words."""
    context = click.Context(cli, info_name="repertoire")
    found: dict[str, click.Command] = {}
    for verb in VERBS:
        command = cli.get_command(context, verb)
        assert command is not None
        inner = command.commands if isinstance(command, click.Group) else {}
        found |= {f"{verb} {name}": one for name, one in inner.items()} or {verb: command}
    return found


def ran(words: str, *arguments: str) -> Result:
    return CliRunner().invoke(cli, [*words.split(), *arguments, "--json"])


def keys_of(value: Any) -> set[str]:
    first = value[0] if isinstance(value, list) and value else value
    return set(first) if isinstance(first, dict) else set()


def test_every_verb_that_answers_has_it() -> None:
    without = {words for words, command in commands().items() if not any(p.name == "as_json" for p in command.params)}
    assert without == OTHER
    assert set(PROMISED) | ELSEWHERE | OTHER == set(commands())


def test_each_prints_one_value_under_the_promised_keys(project: Path) -> None:
    for words, (arguments, promised) in PROMISED.items():
        result = ran(words, *arguments)
        assert result.exit_code == 0, (words, result.output, result.exception)
        value = json.loads(result.stdout)
        assert promised <= keys_of(value), (words, keys_of(value))


def test_what_fails_prints_no_json_and_says_why_on_the_error_stream(project: Path) -> None:
    result = ran("explain", "nobody-knows-this")
    assert result.exit_code == 1
    assert result.stdout == ""
