"""What a project or a client hands to the server, however long or odd, keeps no other session's hooks waiting."""

from __future__ import annotations

import json
import os
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from hooks.starting import HOSTILE, make_project
from mcp_server.talk import HELLO, READY, events_of, send, started
from repertoire.app.session.spool import take_in
from repertoire.domain.event import CLOSED, FAILED, SELECTED
from repertoire.mcp_server.hook_calls import MOST_JSON, MOST_NAME, MOST_TEXT, Hook
from repertoire.store.database import Store

ROOT = Path(__file__).parents[2]
TIMES = 4  # the processor time of the same hooks about a project and values of the usual kind
TICKS = os.sysconf("SC_CLK_TCK")
FILLS = "please fill the fields of this PDF form from my spreadsheet"


@pytest.fixture
def server(environment: dict[str, str], tmp_path: Path) -> Iterator[subprocess.Popen[str]]:
    surroundings = {**environment, "PYTHONPATH": str(ROOT / "server"), "HOME": str(tmp_path)}
    with started(surroundings, tmp_path) as process:
        send(process, HELLO, READY)
        # opens the store and waits for the model
        _answers(process, {2: {"name": "search_components", "arguments": {"query": "fill PDF forms"}}})
        yield process


def _hook(name: str, session: str, project: str, **values: str) -> dict[str, Any]:
    return {"name": name, "arguments": {"session_id": session, "cwd": project, **values}}


def _answers(process: subprocess.Popen[str], calls: dict[int, dict[str, Any]]) -> dict[int, str]:
    """Make all calls at once, and return the text of each answer by the number of its call."""
    send(process, *({"jsonrpc": "2.0", "id": n, "method": "tools/call", "params": call} for n, call in calls.items()))
    answers: dict[int, str] = {}
    assert process.stdout is not None
    while answers.keys() != calls.keys():
        message = json.loads(process.stdout.readline())
        if message.get("id") in calls:
            answers[message["id"]] = message["result"]["content"][0]["text"]
    return answers


def _spent(process: subprocess.Popen[str]) -> float:
    fields = Path(f"/proc/{process.pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / TICKS


def _sessions(first: int, strange: str, long: str) -> dict[int, dict[str, Any]]:
    """Return the hooks of a session in a strange project, with long values, and of one that has its own to do."""
    s, other = f"strange {first}", f"other {first}"
    bash = {"tool_input": '{"command": "pytest | tail"}', "tool_response": json.dumps({"stdout": long + "3 passed"})}
    calls = [
        _hook("hook_prompt", s, strange, prompt=FILLS),
        _hook("hook_prompt", s, strange, prompt=FILLS + long),
        _hook("hook_used", s, strange, tool_name="Bash", **bash),
        _hook("hook_used", s, strange, tool_name="Skill", tool_input=json.dumps({"skill": "x" + long})),
        _hook("hook_expanded", s, strange, command_name="x" + long, command_args=FILLS + long),
        _hook("hook_failed", s, strange, tool_name="mcp__a", tool_input=long, error=long),
        _hook("hook_stop", s, strange, last_assistant_message=long),
        _hook("hook_used", other, "/other", tool_name="Skill", tool_input='{"skill": "changelog"}'),
        _hook("hook_failed", other, "/other", tool_name="Skill", tool_input='{"skill": "changelog"}', error="no"),
        _hook("hook_stop", other, "/other", last_assistant_message="Done."),
        _hook("hook_prompt", other, "/other", prompt=FILLS),
    ]
    return dict(enumerate(calls, first))


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="NOT TESTED: no system that tells a process's time")
def test_a_strange_project_and_long_values_keep_no_other_sessions_hooks_waiting(
    server: subprocess.Popen[str], home: Path, tmp_path: Path
) -> None:
    plain = str(make_project(tmp_path / "plain", dict.fromkeys(HOSTILE, "")))
    for attempt in range(3):  # others may keep the machine from being in time
        strange = str(make_project(tmp_path / f"strange {attempt}", HOSTILE))
        rounds = ((plain, ""), (strange, ""), (plain, "0.0 ~<é\n" * 130_000))
        told, spent = zip(
            *(_round(server, 100 * (3 * attempt + n), *each) for n, each in enumerate(rounds, 1)), strict=True
        )
        if all("pdf-forms" in text for text in told) and max(spent[1:]) < TIMES * spent[0]:
            break
    assert ["pdf-forms" in text for text in told] == [True] * 3  # what is late is answered with nothing
    assert max(spent[1:]) < TIMES * spent[0]
    assert server.poll() is None
    with Store.open(home / "repertoire.db") as store:
        take_in(store)
    happened = [event.kind for event in events_of(home, SELECTED, FAILED, CLOSED) if event.session.startswith("other")]
    assert happened == [SELECTED, FAILED, CLOSED] * 3 * (attempt + 1)


def _round(process: subprocess.Popen[str], first: int, project: str, long: str) -> tuple[str, float]:
    """Return what the session's prompt beside a strange one is told, and the processor time of all their hooks."""
    before = _spent(process)
    told = _answers(process, _sessions(first, project, long))[first + len(_sessions(first, "", "")) - 1]
    return told, _spent(process) - before


def test_what_is_read_of_a_value_is_bounded() -> None:
    long = "é" * 50_000 + "?"
    hook = Hook({"a": long, "b": {"c": long, "d": 3}, "e": json.dumps({"c": long}), "f": f'["{"x" * MOST_JSON}"]'})
    assert [len(hook.text("a")), len(hook.tail("a")), len(hook.name("a"))] == [MOST_TEXT, MOST_TEXT, MOST_NAME]
    assert Hook({"a": "word " * 10_000}).text("a").endswith("word")
    assert len(Hook({"a": f"{'x ' * (MOST_TEXT // 2 - 3)}sk-{'y' * 90}"}).text("a")) == MOST_TEXT - 7
    assert hook.tail("a").endswith("?")
    assert {name: len(text) for name, text in hook.names("b").items()} == {"c": MOST_NAME}
    assert hook.mapping("e") == {"c": long}
    assert hook.mapping("f") == {}


def test_a_number_of_a_million_digits_is_not_computed() -> None:
    hook = Hook({"tool_input": f'{{"a": {"7" * (MOST_JSON - 20)}}}'})
    begun = time.thread_time()
    assert len(str(hook.mapping("tool_input")["a"])) == MOST_JSON - 20
    walk = time.thread_time()
    assert sum(map(str.isdigit, "7" * MOST_JSON)) == MOST_JSON
    assert walk - begun < time.thread_time() - walk
