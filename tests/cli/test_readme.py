"""The README's first screen: its question, asked on a machine that has nothing, is answered as it is shown."""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest

from cli.conftest import Run

README = Path(__file__).resolve().parents[2] / "README.md"
SAMPLE = re.compile(r'^bin/repertoire (\w+) "(.+)"\n```\n\n```\n(.*?)^```', re.MULTILINE | re.DOTALL)
DATA, REPOSITORY = "REPERTOIRE_COMPONENTS_DATA", "anthropics+claude-plugins-official"
PATIENT = {"REPERTOIRE_QUERY_MS": "60000"}  # how busy a machine is must not decide what is recommended


def sample() -> tuple[list[str], list[str]]:
    """Return what follows `bin/repertoire`, and the lines that are shown under it."""
    asked = SAMPLE.search(README.read_text(encoding="utf-8"))
    assert asked is not None, "README.md shows no question with its answer"
    return [asked[1], asked[2]], asked[3].splitlines()


def members(lines: list[str]) -> list[str]:
    """Return the names of the members: a plugin stands for its server once it was read itself."""
    return [found[1] for found in (re.match(r"\d+\. (\S+) ", line) for line in lines) if found]


@pytest.mark.parametrize("in_the_clone", [True, False])
def test_the_question_is_answered_as_it_is_shown_line_by_line(run: Run, in_the_clone: bool) -> None:
    question, shown = sample()
    done = run(*question, cwd=README.parent, **PATIENT) if in_the_clone else run(*question, **PATIENT)
    assert done.returncode == 0, done.stderr
    printed = iter(done.stdout.splitlines())
    missing = [line for line in shown if line not in printed]  # each looked for after the one before
    assert missing == [], done.stdout


def test_the_same_set_is_named_once_a_real_repository_was_read(run: Run) -> None:
    folder = Path(os.environ.get(DATA, "/nowhere")) / REPOSITORY
    if not folder.is_dir():
        pytest.skip(f"NOT TESTED: {DATA} names no folder with {REPOSITORY}")
    question, shown = sample()
    run(*question)  # with which a home begins
    read = run("ingest", str(folder), "--wait")
    assert read.returncode == 0, read.stderr
    answer = run(*question, "--wait", **PATIENT).stdout.splitlines()
    assert members(answer) == members(shown)
