"""A server that is killed, hung, missing or cannot run leaves the session unharmed."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
from pathlib import Path

import pytest

from client.belongings import A_PROMPT_THAT_NEEDS_ONE
from client.graph_tools import SERVER, ask
from client.machine import REPOSITORY, Machine, Settle
from client.session import Session
from hooks.starting import HOSTILE

pytestmark = pytest.mark.client


def _server_processes(client: int) -> list[int]:
    """Return the processes below the client that run our server, by what ps shows."""
    listing = subprocess.run(
        ["ps", "-axww", "-o", "pid=,ppid=,args="], check=True, capture_output=True, text=True
    ).stdout
    rows = [line.split(maxsplit=2) for line in listing.splitlines()]
    family = {client}
    for _ in rows:  # as deep as the process tree can be; it settles after two or three rounds
        grown = family | {int(pid) for pid, parent, *_ in rows if int(parent) in family}
        if grown == family:
            break
        family = grown
    return [int(pid) for pid, _, *args in rows if int(pid) in family - {client} and "repertoire" in "".join(args)]


def _unharmed(session: Session, turns: int) -> None:
    assert session.returncode == 0
    assert session.results == ["Understood."] * turns
    assert not [event for event in session.events if event.get("is_error")]


@pytest.mark.parametrize("blow", [signal.SIGKILL, signal.SIGSTOP])
def test_a_server_killed_or_hung_between_prompts_does_not_end_the_session(
    regular: Machine, blow: signal.Signals
) -> None:
    struck: list[int] = []
    try:
        with regular.conversation() as live:
            live.say("hello")
            struck = _server_processes(live.pid)
            assert struck
            for pid in struck:
                os.kill(pid, blow)
            live.say(A_PROMPT_THAT_NEEDS_ONE)
        _unharmed(live.seen(), turns=2)
    finally:
        _bury(struck)
    assert "component" in ask(regular, "status"), "the next session starts a sound server"


def _bury(processes: list[int]) -> None:
    for pid in processes:
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)


def test_a_missing_server_does_not_end_the_session(settle: Settle, tmp_path: Path) -> None:
    machine = settle(REPERTOIRE_HOME=str(tmp_path / "data"))
    (machine.install(REPOSITORY) / "server" / "launch.py").unlink()
    session = machine.session("hello", A_PROMPT_THAT_NEEDS_ONE)
    _unharmed(session, turns=2)
    assert session.server_status(SERVER) == "failed"


def test_a_server_that_never_answers_does_not_end_the_session(newcomer: Machine, tmp_path: Path) -> None:
    stuck = tmp_path / "python"
    stuck.write_text("#!/bin/sh\nexec sleep 600\n")
    stuck.chmod(0o755)
    session = newcomer.also(REPERTOIRE_PYTHON=str(stuck)).session("hello", A_PROMPT_THAT_NEEDS_ONE, at_once=True)
    _unharmed(session, turns=2)
    assert session.injected("UserPromptSubmit") == []


def test_a_store_that_is_not_ours_does_not_end_the_session(regular: Machine) -> None:
    store = Path(regular.env["REPERTOIRE_HOME"]) / "repertoire.db"
    assert store.exists()
    store.write_bytes(b"not a database" * 1000)
    session = regular.session("hello", A_PROMPT_THAT_NEEDS_ONE)
    _unharmed(session, turns=2)
    assert "repertoire.db" in ask(regular, "status")
    assert store.read_bytes() == b"not a database" * 1000


def test_manifests_that_once_held_a_start_for_a_minute_hold_it_no_more(newcomer: Machine) -> None:
    hostile = {name: newcomer.project / name for name in ("pyproject.toml", "Package.swift")}
    for name, path in hostile.items():
        path.write_text(HOSTILE[name], encoding="utf-8")
    try:
        session = newcomer.answered_session("hello", event="SessionStart")
    finally:
        for path in hostile.values():
            path.unlink()
    _unharmed(session, turns=1)
    assert {run["outcome"] for run in session.hook_runs("SessionStart")} == {"success"}
    assert "fastapi" in session.injected("SessionStart")[0].lower()
