"""Whatever a client sends, a tool answers in words and a hook in hook JSON; no trace of ours reaches it."""

from __future__ import annotations

import json
import logging
import subprocess
import threading
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import IO, Any

import jsonschema
import pytest
from anyio.from_thread import start_blocking_portal
from hypothesis import example, given
from hypothesis import strategies as st
from mcp import Client
from mcp_types import CallToolResult, Implementation

from anything import ANY_TEXT, ANYTHING, PLAIN, UTF8_TEXT, arguments_of, profile
from mcp_server.talk import COMMAND, HELLO, READY, text_of
from repertoire.mcp_server.dispatcher import Dispatcher
from repertoire.mcp_server.server import build_server
from repertoire.mcp_server.tool_definitions import HOOKS, TOOLS
from repertoire.mcp_server.trace_tools import TRACE_TOOLS

FIRST, LAST = 10, 1_000_000
PATIENCE_S = 300
Call = Callable[[str, Mapping[str, Any]], CallToolResult]
BY_NAME = {tool.name: tool for tool in TOOLS}
# Reading a source is a process a call: what its address may be is tried in test_any_address.py.
TRIED = [tool for tool in TOOLS if tool.name != "ingest_repo"]
A_CALL = st.sampled_from(TRIED).flatmap(lambda tool: st.tuples(st.just(tool.name), arguments_of(tool)))
A_CALL_OF_TRACES = st.sampled_from(TRACE_TOOLS).flatmap(lambda tool: st.tuples(st.just(tool.name), arguments_of(tool)))
SENT = ("prompt", "session_id", "cwd", "command_name", "command_args", "tool_name", "tool_input", "error")
TOOLS_SEEN = st.sampled_from(["Bash", "Skill", "Task", "Agent", "mcp__postgres__query", "mcp__plugin_a_b__c", "mcp__"])
INPUTS = st.one_of(
    st.sampled_from([
        '{"skill": "pdf-forms"}', '{"skill": 7}', '{"command": "pytest -q"}', '{"command": null}', "[]", "null", "NaN",
        '{"subagent_type": "ledger-auditor"}', '{"subagent_type": ["x"]}', '{"skill": "\\ud800"}', "{" * 5000,
    ]),
    ANYTHING,
)  # fmt: skip
SESSIONS = st.sampled_from(["s1", "s2", "\ud800", ""])
FOLDERS = st.one_of(st.sampled_from(["/project", "/a\x00b", "\ud800", "", "relative", "~root"]), ANY_TEXT)
HOOK_ARGUMENTS = st.one_of(
    st.fixed_dictionaries(
        {"session_id": SESSIONS, "cwd": FOLDERS},
        optional={
            "prompt": st.one_of(st.sampled_from(PLAIN), ANY_TEXT),
            "command_name": st.one_of(st.sampled_from(["pdf-forms", "/ship", "acme:ship"]), ANY_TEXT),
            "command_args": st.one_of(st.sampled_from(PLAIN), ANY_TEXT),
            "tool_name": st.one_of(TOOLS_SEEN, ANY_TEXT),
            "tool_input": INPUTS,
            "error": ANY_TEXT,
            "stop_hook_active": st.one_of(st.booleans(), st.sampled_from(["true", "", "x"])),
        },
    ),
    st.dictionaries(st.one_of(st.sampled_from(SENT), UTF8_TEXT), ANYTHING, max_size=5),
)


@pytest.fixture
def call(environment: dict[str, str]) -> Iterator[Call]:
    """Call a tool of one server that lives as long as the test, as a client that takes structured answers."""
    dispatcher = Dispatcher(environment)
    with start_blocking_portal() as portal:
        client = Client(build_server(dispatcher.handlers), client_info=Implementation(name="any", version="1"))
        with portal.wrap_async_context_manager(client) as connected:
            yield lambda name, arguments: portal.call(connected.call_tool, name, dict(arguments))
        dispatcher.close()


def sendable(value: Any) -> None:
    """Assert that a value reaches a client: JSON that every parser reads, in UTF-8."""
    json.dumps(value, ensure_ascii=False, allow_nan=False).encode()


def test_no_arguments_bring_a_tool_down(call: Call, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.ERROR)

    @profile(40)
    @given(A_CALL)
    @example(("search_components", {"query": "half a pair \ud800"}))
    @example(("recommend_set", {"task": PLAIN[2], "project": "/a\x00b"}))
    @example(("recommend_set", {"task": PLAIN[2], "size": "\u00b2"}))
    @example(("recommend_set", {"task": PLAIN[2], "size": "9" * 5_000}))
    def answers(sent: tuple[str, dict[str, Any]]) -> None:
        is_answered(call, *sent, log=caplog)

    answers()
    assert "Repertoire" in text_of(call("status", {}))


def test_no_arguments_bring_a_tool_of_traces_down_where_there_are_some(
    call: Call, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.ERROR)
    words = {"context": "ValueError: no such form", "solution": "Flatten the form first."}
    draft = call("contribute_trace", {"title": "A form cannot be filled", **words}).structured_content
    assert draft is not None
    kept = call("contribute_trace", {"token": draft["token"]}).structured_content
    assert kept is not None
    keys = st.sampled_from([kept["id"], kept["id"][:12], draft["token"], "trace:", "trace:%", "trace:0000"])

    @profile(60)
    @given(A_CALL_OF_TRACES, st.one_of(st.none(), keys))
    def answers(sent: tuple[str, dict[str, Any]], key: str | None) -> None:
        name, arguments = sent
        named = {"id": key} if key and "id" in BY_NAME[name].properties else {}
        is_answered(call, name, {**arguments, **named}, log=caplog)

    answers()
    shown = call("get_trace", {"id": kept["id"]})
    assert words["solution"] in text_of(shown), "whatever was sent, what was kept stays as it was told"


def is_answered(call: Call, name: str, arguments: dict[str, Any], *, log: pytest.LogCaptureFixture) -> None:
    """Assert that a tool answers in words, and with data of its schema unless it refuses."""
    result = call(name, arguments)
    text = text_of(result)
    assert text.strip()
    assert "Traceback" not in text
    assert "fault in Repertoire" not in text, log.text
    sendable(text)
    if not result.is_error:
        assert result.structured_content is not None
        jsonschema.validate(result.structured_content, dict(BY_NAME[name].output))
        sendable(result.structured_content)


def test_no_arguments_bring_a_hook_down(call: Call, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.ERROR)

    @profile(40)
    @given(st.sampled_from(HOOKS), HOOK_ARGUMENTS)
    @example("hook_used", {"tool_name": "Skill", "tool_input": "[" * 20_000})
    @example("hook_stop", {"session_id": "\ud800"})
    @example("hook_prompt", {"prompt": PLAIN[2], "cwd": "/a\x00b"})
    def answers(name: str, arguments: dict[str, Any]) -> None:
        result = call(name, arguments)
        assert not result.is_error
        output = json.loads(text_of(result))
        assert set(output) <= {"hookSpecificOutput"}
        assert output == {} or output["hookSpecificOutput"]["hookEventName"] == "UserPromptSubmit"
        sendable(output)
        assert not caplog.records, caplog.text  # what fails is hidden from the client, not from us

    answers()
    assert "Repertoire" in text_of(call("status", {}))
    assert not caplog.records, caplog.text


def test_no_name_of_a_tool_brings_the_server_down(call: Call) -> None:
    @profile(20)
    @given(UTF8_TEXT.filter(lambda name: name not in BY_NAME and name not in HOOKS))  # a client that sends others dies
    def answers(name: str) -> None:
        result = call(name, {})
        assert result.is_error
        assert "There is no tool" in text_of(result)
        sendable(text_of(result))

    answers()


def test_no_line_brings_the_process_down(environment: dict[str, str], tmp_path: Path) -> None:
    """The real pipe: what a client may write, and what nobody should."""
    lines: list[bytes] = []

    @profile(12)
    @given(st.one_of(A_CALL, st.tuples(st.sampled_from(HOOKS), HOOK_ARGUMENTS)))
    @example(("hook_stop", {"session_id": "half a pair \ud83e"}))
    def collect(sent: tuple[str, dict[str, Any]]) -> None:
        lines.append(_call(len(lines) + FIRST, *sent))

    collect()
    asked = len(lines)
    lines[5:5] = [b"\xff\xfe\x00", b"[" * 50_000, b"null", b"{}", b'{"jsonrpc":"2.0","id":NaN,"method":"ping"}', b" "]
    answers = _talk(lines, range(FIRST, FIRST + asked), {**environment, "HOME": str(tmp_path)})
    for answer in answers.values():
        assert "error" in answer or answer["result"]["content"][0]["text"].strip(), answer
        assert "Traceback" not in json.dumps(answer)
    assert "Repertoire" in answers[LAST]["result"]["content"][0]["text"]


def _call(number: int, name: str, arguments: Mapping[str, Any]) -> bytes:
    params = {"name": name, "arguments": arguments}
    return json.dumps({"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": params}).encode()


def _talk(lines: list[bytes], numbers: range, environment: Mapping[str, str]) -> dict[int, dict[str, Any]]:
    """Send lines to a server of its own and return its answers: to all these numbers, then to a last question."""
    surroundings = {"PYTHONPATH": str(Path(__file__).parents[2] / "server"), **environment}
    opening = [json.dumps(message).encode() for message in (HELLO, READY)]
    with subprocess.Popen(
        COMMAND, env=surroundings, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
    ) as process:
        assert process.stdin is not None
        patience = threading.Timer(PATIENCE_S, process.kill)
        patience.start()
        writer = threading.Thread(target=_write, args=(process.stdin, [*opening, *lines]))
        writer.start()
        answers = _answers(process, set(numbers))
        writer.join()
        _write(process.stdin, [_call(LAST, "status", {})])
        answers.update(_answers(process, {LAST}))
        process.stdin.close()
        assert process.wait(timeout=20) == 0
        patience.cancel()
    return answers


def _answers(process: subprocess.Popen[bytes], wanted: set[int]) -> dict[int, dict[str, Any]]:
    assert process.stdout is not None
    found: dict[int, dict[str, Any]] = {}
    for line in process.stdout:
        message = json.loads(line)
        if message.get("id") in wanted:
            found[message["id"]] = message
        if len(found) == len(wanted):
            return found
    pytest.fail("the server left before it had answered")


def _write(pipe: IO[bytes], lines: list[bytes]) -> None:
    pipe.write(b"\n".join(lines) + b"\n")
    pipe.flush()
