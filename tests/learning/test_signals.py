"""What a command, an edit and a prompt say of what was done before; how often that is right, on labelled ones."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from repertoire.learning.session import CHECKED, UNDONE
from repertoire.learning.shell import commands
from repertoire.learning.signals import of_command

LABELLED = Path(__file__).parents[2] / "bench/learning/signals.jsonl"
ROWS: list[dict[str, Any]] = [json.loads(line) for line in LABELLED.read_text(encoding="utf-8").splitlines()]


def unseen(kind: str) -> list[dict[str, Any]]:
    """Return the half of the labelled rows from which no rule was made."""
    rows = [row for row in ROWS if kind in row]
    return [row for row in rows if int(hashlib.sha256(row[kind].encode()).hexdigest(), 16) % 2]


def rates(rows: list[dict[str, Any]], told: Callable[[dict[str, Any]], bool], label: str, value: Any) -> Any:
    """Return precision and recall of what is told for one value of a label."""
    found = [row for row in rows if told(row)]
    right = sum(row[label] == value for row in found)
    return right / max(len(found), 1), right / sum(row[label] == value for row in rows)


@pytest.mark.parametrize("signal", [CHECKED, UNDONE])
def test_what_labelled_commands_tell_is_told(signal: str) -> None:
    rows = unseen("command")
    precision, recall = rates(rows, lambda row: of_command(row["command"]) == signal, "tells", signal)
    assert precision >= 0.99
    assert recall >= 0.97


@pytest.mark.parametrize(
    ("command", "printed", "signal"),
    [
        ("pytest 2>&1 | tail -5", "....\n12 passed in 0.31s", CHECKED),
        ("pytest 2>&1 | tail -5", "FAILED tests/test_a.py::test_b\n1 failed, 11 passed in 0.31s", ""),
        ("pytest | head -20", "collected 12 items", ""),
        ("pytest; git status", "12 passed in 0.31s\nOn branch main", CHECKED),
        ("npm test > /tmp/log 2>&1; echo exit: $?", "exit: 0", CHECKED),
        ("npm test > /tmp/log 2>&1; echo exit: $?", "exit: 1", ""),
        ("npm test | tail -1; echo exit: $?", "exit: 0", ""),
        ("mypy src | tail -1", "Success: no issues found in 12 source files", CHECKED),
        ("mypy src | tail -1", "Found 3 errors in 1 file (checked 12 source files)", ""),
        ("npx tsc --noEmit | head; npx eslint .", "src/a.ts(1,1): error TS2304: Cannot find name", ""),
        ("cargo test 2>&1 | grep 'test result'", "test result: ok. 4 passed; 0 failed; 0 ignored", CHECKED),
        ("cargo test 2>&1 | grep 'test result'", "test result: FAILED. 3 passed; 1 failed; 0 ignored", ""),
        ("go test ./... | tail", "ok  \texample.com/a\t0.01s", CHECKED),
        ("pytest || true", "bash: pytest: command not found", ""),
        ("(pytest && mypy src) | tail -1", "", ""),
        ("set -e; pytest && echo fine; echo done", "", ""),
        ("pytest &&\n  mypy src", "", CHECKED),
    ],
)
def test_where_the_status_is_hidden_what_was_printed_decides(command: str, printed: str, signal: str) -> None:
    assert of_command(command, printed) == signal


@given(st.text(alphabet="ab'\"\\$(){}<>|&;#! \n=-/", max_size=60))
def test_any_text_is_read_as_some_commands(text: str) -> None:
    assert all(ran.words and (ran.begun or not ran.sure) for ran in commands(text))
    assert isinstance(of_command(text, text), str)
