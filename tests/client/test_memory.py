"""Project memory in sessions: begun by a person; decisions outlive sessions, callers are asked, tasks are named."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from client.graph_tools import PREFIX, ask
from client.machine import REPOSITORY, Machine

pytestmark = pytest.mark.client

MEMORY_TOOLS = {f"{PREFIX}{name}" for name in ("memory_search", "memory_save", "code_symbols")}
PROGRAM = "def total(rows):\n    return sum(rows)\n\n\ndef invoice(rows):\n    return total(rows)\n"


def repertoire(machine: Machine, *words: str) -> str:
    done = machine.run(REPOSITORY / "bin" / "repertoire", *words)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture
def remembered(regular: Machine) -> Machine:
    """Return a machine on which the project's memory was begun."""
    (regular.project / "invoices.py").write_text(PROGRAM, encoding="utf-8")
    repertoire(regular, "project", "init", "--quiet")
    return regular


def test_a_decision_of_one_session_is_found_in_the_next_and_callers_need_no_grep(remembered: Machine) -> None:
    ask(remembered, "memory_save", kind="note", title="Invoices are rounded to full cents", category="decision")
    assert "rounded to full cents" in ask(remembered, "memory_search", query="how are invoices rounded")
    assert "invoice" in ask(remembered, "code_symbols", name="total", action="callers")


def test_a_start_names_two_ready_tasks_in_a_project_that_was_begun_and_in_no_other(
    remembered: Machine, newcomer: Machine, tmp_path: Path
) -> None:
    for title in ("Round the totals", "Number the invoices"):
        repertoire(remembered, "project", "save", "task", title)
    session = remembered.answered_session("hello", event="SessionStart")
    [told] = session.injected("SessionStart")
    assert "Round the totals" in told
    assert "Number the invoices" in told
    assert set(session.init["tools"]) >= MEMORY_TOOLS
    elsewhere = newcomer.also(REPERTOIRE_HOME=str(tmp_path / "another")).session("hello")
    assert not MEMORY_TOOLS & set(elsewhere.init["tools"])
    assert "task:" not in json.dumps(elsewhere.injected("SessionStart"))
