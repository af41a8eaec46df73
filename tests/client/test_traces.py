"""An error that was fought once is shown with its solution when it comes back in another project; quiet stays quiet."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from copy import copy
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from client.api_stub import Reply, Script, ToolUse
from client.belongings import CHIT_CHAT
from client.graph_tools import GRANTED, call
from client.machine import Machine
from client.session import Session
from repertoire.domain.event import PROPOSED, SHOWN, VOTED, Event
from repertoire.store.database import Store

pytestmark = pytest.mark.client

CHECK = "python3 -m unittest -q"
TEST = """import unittest
from {module} import total


class Totals(unittest.TestCase):
    def test_total(self):
        self.assertEqual(total([{{"amount_net": 2}}, {{"amount_net": 3}}]), 5)
"""
CODE = "def total(rows):\n    return sum(row['net'] for row in rows)\n"
ALLOWED = (*GRANTED, "Bash", "Read", "Edit")


def run(command: str = CHECK) -> ToolUse:
    return ToolUse("Bash", {"command": command, "description": "run it"})


def write(project: Path, module: str) -> Path:
    """Write a small project whose one test fails, and return the file that is at fault."""
    project.mkdir(exist_ok=True)
    (project / f"test_{module}.py").write_text(TEST.format(module=module))
    file = project / f"{module}.py"
    file.write_text(CODE)
    return file


def edit(file: Path, old: str, new: str) -> ToolUse:
    return ToolUse("Edit", {"file_path": str(file), "old_string": old, "new_string": new})


def fight(file: Path) -> list[Reply]:
    """Return what a model does that tries two things in vain, and then the right one."""
    tries = ("row['net']", "row.setdefault('Net')", "row['net'.strip()]", "row.get('amount_net')")
    steps: list[Reply] = [run(), ToolUse("Read", {"file_path": str(file)})]
    for old, new in pairwise(tries):
        steps += [edit(file, old, new), run()]
    return [*steps, "The tests pass."]


def outputs(session: Session, event: str) -> list[Mapping[str, Any]]:
    """Return what the hooks of one event said, but for those that said nothing."""
    said = [json.loads(hook["output"] or "{}") for hook in session.hook_runs(event)]
    return [output for output in said if output]


def events(machine: Machine, *kinds: str) -> list[Event]:
    with Store.open(Path(machine.env["REPERTOIRE_HOME"]) / "repertoire.db") as store:
        return store.events.recent(kinds=kinds)


def test_an_error_solved_once_is_shown_with_its_solution_in_another_project(regular: Machine) -> None:
    fought = write(regular.project / "shop", "totals")
    cd = f"cd {fought.parent} && {CHECK}"
    steps = [run(cd) if step == run() else step for step in fight(fought)]
    first = regular.session("mend the totals", script=Script(steps), args=ALLOWED)
    assert first.returncode == 0
    [said] = [output["systemMessage"] for output in outputs(first, "Stop")]
    assert "/repertoire:trace contribute" in said
    assert first.results == ["The tests pass."], "the turn is not continued"

    token = re.findall(r"contribute (\w+)", said)[0]
    consent = Script([call("get_trace", id=token), "Keep it?", call("contribute_trace", token=token), "Kept."])
    shown = regular.session(f"/repertoire:trace contribute {token}", "yes", script=consent, args=GRANTED)
    assert "KeyError" in shown.main_requests[1].last_message
    assert "trace:" in shown.main_requests[-1].last_message

    other = copy(regular)
    other.project = regular.root / "elsewhere"
    file = write(other.project, "sums")
    again = [run(), ToolUse("Read", {"file_path": str(file)}), edit(file, "row['net']", "row['amount_net']"), run()]
    # a first turn in which the model loads: on a busy machine the very first hook may go without an answer, by design
    second = other.session("hello", "the build is red", script=Script(["Hello.", *again, "Done."]), args=ALLOWED)
    [hint] = second.injected("PostToolUseFailure")
    assert "amount_net" in hint
    assert hint in second.main_requests[2].text, "in the request after the first failure"
    assert str(regular.project) not in hint
    assert len(events(other, PROPOSED)) == 1
    [trace] = [event.node for event in events(other, SHOWN) if event.node.startswith("trace:")]
    assert [event.node for event in events(other, VOTED)] == [trace]


def test_a_command_that_failed_here_is_told_before_it_runs_again(regular: Machine) -> None:
    write(regular.project, "sums")
    session = regular.session(CHIT_CHAT, script=Script([run(), run(), "Hm."]), args=ALLOWED)
    [fact] = session.injected("PreToolUse")
    assert CHECK in fact
    assert {run["outcome"] for run in session.hook_runs("SessionEnd")} <= {"success"}
    assert not list(Path(regular.env["REPERTOIRE_HOME"]).rglob("session-*.json")), "the session's end deletes its file"
    assert [hook["outcome"] for hook in session.hook_runs("PreToolUse")] == ["success", "success"]


def test_a_quiet_session_hears_nothing_of_traces(regular: Machine) -> None:
    session = regular.session(CHIT_CHAT, script=Script([run("echo 0 failed"), "Done."]), args=ALLOWED)
    assert session.returncode == 0
    assert [outputs(session, event) for event in ("PreToolUse", "PostToolUse", "Stop")] == [[], [], []]
