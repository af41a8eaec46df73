"""The server as a process: its pipe carries protocol only, it leaves when told to, and reads sources beside itself."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import IO, Any

import anyio
import apsw
import pytest

from mcp_server.talk import HELLO, READY, ask, connected, events_of, refused, send, started, text_of
from repertoire.app.session.spool import take_in
from repertoire.boot.spool import waiting
from repertoire.domain.event import OFFERED, SELECTED
from repertoire.mcp_server.tool_definitions import HOOKS
from repertoire.store.database import Store
from repertoire.store.migrations import NEWEST

pytestmark = pytest.mark.anyio

ROOT = Path(__file__).parents[2]
USED = {
    "name": "hook_used",
    "arguments": {"tool_name": "Skill", "tool_input": '{"skill": "pdf-forms"}', "session_id": "s1", "cwd": "/project"},
}


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """Return a project with a component of its own, which a model may have read."""
    skill = tmp_path / "project" / "kit" / "skills" / "weave" / "SKILL.md"
    skill.parent.mkdir(parents=True)
    skill.write_text("---\nname: weave\ndescription: Weaves baskets from willow.\n---\nSoak the willow first.\n")
    return tmp_path / "project"


@pytest.fixture
def surroundings(environment: dict[str, str], project: Path, tmp_path: Path) -> dict[str, str]:
    passed = {name: os.environ[name] for name in ("TMPDIR", "LANG") if name in os.environ}
    own = {"PYTHONPATH": str(ROOT / "server"), "CLAUDE_PROJECT_DIR": str(project), "HOME": str(tmp_path)}
    return {**passed, **environment, **own}


@pytest.fixture
def server(surroundings: dict[str, str], project: Path) -> Iterator[subprocess.Popen[str]]:
    with started(surroundings, project) as process:
        yield process


def answer(stdout: IO[str] | None, number: int) -> dict[str, Any]:
    """Read lines, each of which has to be a message, up to the answer to a request."""
    assert stdout is not None
    for line in stdout:
        message: dict[str, Any] = json.loads(line)
        assert message["jsonrpc"] == "2.0"
        if message.get("id") == number:
            return message
    pytest.fail("the server ended before it answered")


def call(number: int, params: dict[str, Any]) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": params}


def test_the_shipped_manifest_says_what_the_server_says() -> None:
    subprocess.run([sys.executable, ROOT / "tools" / "manifest", "--check"], check=True)


def test_the_pipe_carries_protocol_only(server: subprocess.Popen[str]) -> None:
    search = {"name": "search_components", "arguments": {"query": "fill PDF forms"}}
    send(server, HELLO, READY, {"jsonrpc": "2.0", "id": 2, "method": "tools/list"}, call(3, search), call(4, USED))
    assert answer(server.stdout, 1)["result"]["serverInfo"]["name"] == "graph"
    assert not {tool["name"] for tool in answer(server.stdout, 2)["result"]["tools"]} & set(HOOKS)
    assert "pdf-forms" in answer(server.stdout, 3)["result"]["content"][0]["text"]
    send(server, {"jsonrpc": "2.0", "id": 5, "method": "no/such"}, {"jsonrpc": "2.0", "id": 6, "method": "ping"})
    assert answer(server.stdout, 5)["error"]["code"] == -32601
    assert answer(server.stdout, 6)["result"] == {}


def test_a_line_that_is_no_message_is_survived(server: subprocess.Popen[str]) -> None:
    send(server, HELLO, READY)
    assert server.stdin is not None
    server.stdin.write("this is no JSON\n\n{}\n[]\n")
    send(server, {"jsonrpc": "2.0", "id": 7, "method": "ping"})
    assert answer(server.stdout, 7)["result"] == {}


def hook(name: str, **arguments: Any) -> dict[str, Any]:
    return {"name": name, "arguments": {"session_id": "s1", "cwd": "/project", **arguments}}


def test_a_problem_that_was_under_way_when_the_server_was_killed_is_proposed_by_the_next_one(
    surroundings: dict[str, str], project: Path
) -> None:
    run = {"tool_name": "Bash", "tool_input": '{"command": "pytest -q"}'}
    failed = hook("hook_failed", **run, error="Exit code 1\nKeyError: 'net'")
    passed = hook("hook_used", **run, tool_response='{"stdout": "3 passed in 0.10s"}')
    edits = [
        hook(
            "hook_used",
            tool_name="Edit",
            tool_input=json.dumps({"file_path": "a.py", "old_string": a, "new_string": b}),
        )
        for a, b in ("ab", "bc", "cd")
    ]
    stop = hook("hook_stop", stop_hook_active="false")
    outputs = []
    for calls in ([failed, edits[0], failed, edits[1], failed], [edits[2], passed, stop]):
        with started(surroundings, project) as process:
            send(process, HELLO, READY, call(90, {"name": "status", "arguments": {}}))
            answer(process.stdout, 90)  # the store is open: on a busy machine a first hook has no answer in time
            for number, each in enumerate(calls, 2):
                send(process, call(number, each))
                outputs.append(json.loads(answer(process.stdout, number)["result"]["content"][0]["text"]))
    assert outputs[:-1] == [{}] * 7
    assert "KeyError" in outputs[-1]["systemMessage"]


@pytest.mark.parametrize("end", [signal.SIGTERM, signal.SIGINT, None])
def test_it_leaves_at_once_and_keeps_what_it_was_told(
    server: subprocess.Popen[str], home: Path, end: signal.Signals | None
) -> None:
    send(server, HELLO, READY, call(2, USED))
    answer(server.stdout, 2)
    if end is None:
        assert server.stdin is not None
        server.stdin.close()
    else:
        server.send_signal(end)
    assert server.wait(timeout=20) == 0
    with Store.open(home / "repertoire.db") as store:
        take_in(store)  # on a slow machine it waits beside the log
    [event] = events_of(home, SELECTED)
    assert event.session == "s1"


def test_what_a_lock_kept_from_the_log_is_not_lost_when_it_leaves(server: subprocess.Popen[str], home: Path) -> None:
    search = {"name": "search_components", "arguments": {"query": "fill PDF forms"}}
    send(server, HELLO, READY, call(2, search))
    answer(server.stdout, 2)
    with closing(apsw.Connection(str(home / "repertoire.db"))) as other:
        other.execute("BEGIN IMMEDIATE")
        send(server, call(3, USED))
        answer(server.stdout, 3)
        server.send_signal(signal.SIGTERM)
        assert server.wait(timeout=20) == 0
    assert events_of(home, SELECTED) == []
    with Store.open(home / "repertoire.db") as store:
        assert (take_in(store), take_in(store)) == (1, 0)
    [event] = events_of(home, SELECTED)
    assert event.session == "s1"


def test_a_server_that_is_killed_once_it_has_answered_loses_nothing(server: subprocess.Popen[str], home: Path) -> None:
    search = {"name": "search_components", "arguments": {"query": "fill PDF forms"}}
    send(server, HELLO, READY, call(2, search))
    answer(server.stdout, 2)
    with closing(apsw.Connection(str(home / "repertoire.db"))) as other:
        other.execute("BEGIN IMMEDIATE")  # as an ingest does, so that the writing lane has to wait
        send(server, call(3, USED), call(4, {"name": "recommend_set", "arguments": {"task": "fill PDF forms"}}))
        answer(server.stdout, 3)
        assert "pdf-forms" in str(answer(server.stdout, 4))
        server.kill()
        server.wait(timeout=20)
    with Store.open(home / "repertoire.db") as store:
        assert take_in(store) >= 2
        assert take_in(store) == 0
    [used], offered = events_of(home, SELECTED), events_of(home, OFFERED)
    assert used.session == "s1"
    assert [event.data["where"] for event in offered[:1]] == ["set"]


def test_what_was_left_beside_the_log_and_written_after_all_is_there_once(
    server: subprocess.Popen[str], home: Path
) -> None:
    search = {"name": "search_components", "arguments": {"query": "fill PDF forms"}}
    send(server, HELLO, READY, call(2, search))
    answer(server.stdout, 2)
    with closing(apsw.Connection(str(home / "repertoire.db"))) as other:
        other.execute("BEGIN IMMEDIATE")
        send(server, call(3, USED))
        answer(server.stdout, 3)
        other.execute("ROLLBACK")
    send(server, call(4, {"name": "status", "arguments": {}}))
    answer(server.stdout, 4)
    [event] = events_of(home, SELECTED)
    assert event.session == "s1"
    assert not waiting(home)


@pytest.mark.parametrize("make", [lambda path: path.write_text("a diary\n" * 1000), Path.mkdir, None])
def test_a_place_that_holds_no_database_of_ours_costs_one_line_of_the_log(
    surroundings: dict[str, str], project: Path, home: Path, make: Callable[[Path], object] | None
) -> None:
    path = home / "repertoire.db"
    if make is None:
        with closing(apsw.Connection(str(path))) as db:
            db.execute("PRAGMA user_version = 99")
    else:
        path.unlink()
        make(path)
    search = {"name": "search_components", "arguments": {"query": "fill PDF forms"}}
    with started(surroundings, project, stderr=subprocess.PIPE) as process:
        send(process, HELLO, READY, call(2, USED), call(3, USED), call(4, search))
        assert process.stdin is not None
        assert answer(process.stdout, 4)["result"]["isError"] is True
        process.stdin.close()
        told = process.stderr.read() if process.stderr is not None else ""
        assert process.wait() == 0
    assert [line for line in told.splitlines() if "had no answer after" not in line] == [
        f"repertoire: {path} was written by a newer Repertoire (schema 99, this one knows {NEWEST}), "
        "it was left as it is; update the plugin, and restart sessions that began before its last update"
        if make is None
        else f"repertoire: {path} is not a Repertoire database; move it away or set REPERTOIRE_HOME to another folder"
    ]
    if make is None:  # what a session that began before an update hears is kept for those that began after it
        assert len(waiting(home)) == 2


def test_a_client_that_dies_takes_the_server_with_it(server: subprocess.Popen[str]) -> None:
    send(server, HELLO, READY)
    answer(server.stdout, 1)
    assert server.stdin is not None
    assert server.stdout is not None
    server.stdin.close()
    server.stdout.close()
    assert server.wait(timeout=20) == 0


def test_a_client_that_reads_no_more_ends_the_server_silently(surroundings: dict[str, str], project: Path) -> None:
    with started(surroundings, project, stderr=subprocess.PIPE) as server:
        send(server, HELLO, READY)
        answer(server.stdout, 1)
        assert server.stdout is not None
        assert server.stderr is not None
        server.stdout.close()
        send(server, {"jsonrpc": "2.0", "id": 2, "method": "ping"})
        time.sleep(0.5)  # until the answer has found nobody
        assert server.stdin is not None
        server.stdin.close()
        assert server.wait(timeout=20) == 0
        assert server.stderr.read() == ""


@pytest.mark.parametrize("again", [True, False])
def test_a_server_whose_folder_is_removed_goes_on(surroundings: dict[str, str], project: Path, again: bool) -> None:
    del surroundings["CLAUDE_PROJECT_DIR"]
    with started(surroundings, project) as server:
        send(server, HELLO, READY)
        answer(server.stdout, 1)
        shutil.rmtree(project)
        if again:
            project.mkdir()
        send(server, call(2, {"name": "search_components", "arguments": {"query": "fill PDF forms"}}))
        assert "pdf-forms" in answer(server.stdout, 2)["result"]["content"][0]["text"]


async def test_a_source_is_read_and_its_components_are_found(surroundings: dict[str, str], project: Path) -> None:
    heard: list[str | None] = []

    async def listen(_done: float, _total: float | None, message: str | None) -> None:
        heard.append(message)

    async with connected(surroundings, project) as client:
        source = {"source": str(project / "kit")}
        first = await client.call_tool("ingest_repo", source, progress_callback=listen)
        assert not first.is_error, text_of(first)
        assert "1 component (1 changed, 0 unchanged, 0 removed)" in text_of(first)
        assert first.structured_content is not None
        assert first.structured_content["sources"][0]["components"] == 1
        assert "(0 changed, 1 unchanged" in await ask(client, "ingest_repo", **source)
        assert "weave" in await ask(client, "search_components", query="weave baskets from willow")
    assert heard
    assert str(heard[0]).startswith("reading ")


async def test_what_a_model_must_not_read_is_refused_in_words(surroundings: dict[str, str], project: Path) -> None:
    sources = {
        "https://localhost/x/y.git": "localhost",
        "https://10.0.0.8/x/y.git": "10.0.0.8",
        "--upload-pack=/bin/sh": "upload-pack",
        "/etc": "/etc",
        "nothing at all": "nothing at all",
    }
    async with connected(surroundings, project) as client:
        for source, says in sources.items():
            text = await refused(client, "ingest_repo", source=source)
            assert says in text
            assert "Traceback" not in text


async def test_a_cancelled_reading_ends_its_process_and_the_server_goes_on(
    surroundings: dict[str, str], project: Path, tmp_path: Path
) -> None:
    # a git that never ends, found first on the path; it holds a pipe open, which breaks when it is gone
    stuck, sign = tmp_path / "bin" / "git", tmp_path / "running"
    stuck.parent.mkdir()
    stuck.write_text(f"#!/bin/sh\nexec > {sign}\necho fetching\nexec sleep 600\n")
    stuck.chmod(0o755)
    os.mkfifo(sign)
    environment = {**surroundings, "PATH": f"{stuck.parent}{os.pathsep}{surroundings['PATH']}"}
    address = {"source": "https://8.8.8.8/acme/shelf.git"}  # no name to look up; that git never connects

    async with connected(environment, project) as client:
        async with anyio.create_task_group() as group:
            group.start_soon(client.call_tool, "ingest_repo", address)
            async with await anyio.open_file(sign) as running:
                assert await running.readline() == "fetching\n"
                group.cancel_scope.cancel()
                with anyio.CancelScope(shield=True), anyio.fail_after(20):
                    assert await running.read() == "", "the process that held the pipe has ended"
        assert "pdf-forms" in await ask(client, "search_components", query="fill PDF forms")


async def test_a_new_home_is_filled_beside_the_first_session(
    surroundings: dict[str, str], project: Path, tmp_path: Path
) -> None:
    # no model, so that nothing goes on embedding when the test is over
    new = {
        "REPERTOIRE_HOME": str(tmp_path / "new"),
        "REPERTOIRE_BACKGROUND": "true",
        "REPERTOIRE_MODEL": "none/at-all",
    }
    async with connected({**surroundings, **new}, project) as client:
        first = await ask(client, "search_components", query="OAuth login for FastAPI")
        assert "fastapi" in first.lower(), "the first question waits for the first reading"
        with anyio.fail_after(120):
            while " 0 components" in await ask(client, "status"):  # noqa: ASYNC110 - it happens in another process
                await anyio.sleep(0.2)
        assert "catalogue (catalogue)" in await ask(client, "status")
