"""JSON from every verb that answers: valid, alone on standard output, under keys that stay."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import click
import pytest
from click.testing import CliRunner, Result

from repertoire.cli.main import VERBS, cli
from sample_home import SOURCE, filled_home

OTHER = {"serve", "completion", "trace export"}  # what they print is for a client, a shell, or lines already
ELSEWHERE = {"doctor", "eval", "trust accept", "trust eval", "model fetch"}  # need more than a shelf; in other files
ADVISORY = {"id": "OSV-1", "affected": [{"package": {"ecosystem": "npm", "name": "left-pad"}, "versions": ["1.0.0"]}]}
TRACE = {"title": "vite is killed", "context": "exit code 137", "solution": "Raise the limit.", "tags": ["vite"]}
KEY = "trace:e46ed708ee80"  # of those words, on every machine

# what to say to each; the keys that it answers with stand in docs/json.md, and programs may count on them
SAID: Mapping[str, tuple[str, ...]] = {
    "recommend": ("fill PDF forms",),
    "search": ("fill PDF forms",),
    "explain": ("pdf-forms",),
    "install": ("pdf-forms", "--dry-run"),
    "ingest": ("kit",),
    "refresh": ("--text-only",),
    "sources": (),
    "status": (),
    "overlaps": (),
    "stale": (),
    "advisories": ("osv.json",),
    "feedback": ("pdf-forms", "ok"),
    "stats": (),
    "review": (),
    "mute": ("pdf-forms",),
    "trace import": ("traces.jsonl",),
    "trace search": ("vite is killed",),
    "trace show": (KEY,),
    "trace contribute": ("--title", "tsc stops", "--context", "out of memory", "--solution", "Split the project."),
    "trace amend": (KEY, "--solution", "Raise it to 8 GB."),
    "trace vote": (KEY, "up"),
    "trace tags": (),
    "trust show": (),
    "rescue": (),
    "model show": (),
    "forget": ("--requests", "--yes"),
    "remove": (SOURCE.key,),
}
DOCUMENT = Path(__file__).resolve().parents[2] / "docs" / "json.md"


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a project with a kit and an advisory, on a machine with a shelf and nothing installed."""
    filled_home(tmp_path / "home")
    skill = tmp_path / "project" / "kit" / "skills" / "weave" / "SKILL.md"
    skill.parent.mkdir(parents=True)
    skill.write_text("---\nname: weave\ndescription: Weaves baskets from willow.\n---\nSoak the willow first.\n")
    (tmp_path / "project" / "osv.json").write_text(json.dumps(ADVISORY))
    (tmp_path / "project" / "traces.jsonl").write_text(json.dumps(TRACE))
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


def keys_of(value: Any) -> list[str]:
    first = value[0] if isinstance(value, list) and value else value
    return list(first) if isinstance(first, dict) else []


def documented() -> dict[str, list[str]]:
    """Return the keys that the document promises, by what it says they are of."""
    rows = re.findall(r"^\| ([^|]+?) \| ([^|]+?) \|$", DOCUMENT.read_text(encoding="utf-8"), re.MULTILINE)
    return {of.strip("`"): re.findall(r"`(\w+)`", keys) for of, keys in rows}


def test_every_verb_that_answers_has_it() -> None:
    without = {words for words, command in commands().items() if not any(p.name == "as_json" for p in command.params)}
    assert without == OTHER
    assert set(SAID) | ELSEWHERE | OTHER == set(commands())


def test_each_prints_one_value_under_the_documented_keys_and_no_other(project: Path) -> None:
    promised = documented()
    for words, arguments in SAID.items():
        result = ran(words, *arguments)
        assert result.exit_code == 0, (words, result.output, result.exception)
        assert keys_of(json.loads(result.stdout)) == promised[words], words


def test_what_stands_inside_an_answer_has_the_documented_keys(project: Path) -> None:
    promised = documented()
    recommended = json.loads(ran("recommend", "fill PDF forms").stdout)
    searched = json.loads(ran("search", "fill PDF forms").stdout)
    around = json.loads(ran("explain", "pdf-forms", "--detail", "graph").stdout)["graph"]
    assert keys_of(searched["components"]) == promised["a component"]
    assert keys_of(recommended["items"]) == promised["a component"] + promised["a member of a set, also"]
    ran("trace import", "traces.jsonl")
    traces = json.loads(ran("trace search", "vite is killed").stdout)["traces"]
    assert keys_of(traces) == promised["a trace"] + promised["a trace that was searched for, also"]
    assert keys_of(around["nodes"]) == promised["a node"]
    assert keys_of(around["edges"]) == promised["an edge"]


def test_what_fails_prints_no_json_and_says_why_on_the_error_stream(project: Path) -> None:
    result = ran("explain", "nobody-knows-this")
    assert result.exit_code == 1
    assert result.stdout == ""
