"""Failing commands in a session: the trace that solved the error is shown, a hard-won solution is proposed once."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from mcp import Client

from mcp_server.talk import Talk, ask, events_of, text_of
from repertoire.app.session.solving import SEEN
from repertoire.domain.event import PROPOSED, SHOWN, VOTED
from repertoire.domain.trace import DRAFT
from repertoire.store.database import Store

pytestmark = pytest.mark.anyio

FOUGHT = """Traceback (most recent call last):
  File "/home/ana/shop/billing/totals.py", line 41, in total
    return sum(row["net"] for row in rows)
KeyError: 'net'"""
HERE = FOUGHT.replace("/home/ana/shop", "/srv/ci/store").replace("line 41", "line 7")
SOLUTION = "The export renamed the column to `amount_net`; read that one, and the old one where it is missing."


async def told(client: Client, name: str, **arguments: Any) -> Mapping[str, Any]:
    """Send what a hook sends, and return the hook's output."""
    result = await client.call_tool(name, {"session_id": "s1", "cwd": "/srv/ci/store", **arguments})
    assert not result.is_error
    output: Mapping[str, Any] = json.loads(text_of(result))
    return output


async def fails(client: Client, command: str = "pytest -q", printed: str = HERE, **more: Any) -> str:
    """Let a command fail, and return what the model is told."""
    arguments = {"tool_name": "Bash", "tool_input": json.dumps({"command": command}), **more}
    output = await told(client, "hook_failed", **arguments, error=f"Exit code 1\n{printed}")
    return str(output.get("hookSpecificOutput", {}).get("additionalContext", ""))


async def passes(client: Client, command: str = "pytest -q", printed: str = "3 passed in 0.10s") -> None:
    response = json.dumps({"stdout": printed, "stderr": "", "interrupted": False})
    arguments = {"tool_name": "Bash", "tool_input": json.dumps({"command": command}), "tool_response": response}
    assert await told(client, "hook_used", **arguments) == {}


async def edits(client: Client, old: str, new: str, file: str = "/srv/ci/store/billing/totals.py") -> None:
    change = json.dumps({"file_path": file, "old_string": old, "new_string": new})
    assert await told(client, "hook_used", tool_name="Edit", tool_input=change) == {}


async def solve(client: Client) -> None:
    """Fail, try what does not help, and try what does."""
    await fails(client)
    await edits(client, 'row["net"]', 'row.get("net")')
    await fails(client)
    await edits(client, 'row.get("net")', 'row["Net"]')
    await fails(client)
    await edits(client, 'row["Net"]', 'row.get("amount_net", row.get("net"))')
    await passes(client)


async def contribute(client: Client) -> str:
    """Keep a trace of the error as it was fought elsewhere, and return its key."""
    said = {"title": "Totals fail with a KeyError", "context": FOUGHT, "solution": SOLUTION}
    drafted = await ask(client, "contribute_trace", **said)
    kept = await ask(client, "contribute_trace", token=re.findall(r"token\W+([0-9a-f]{8})\b", drafted)[0])
    return re.findall(r"trace:\w+", kept)[0]


async def test_the_trace_that_solved_an_error_is_shown_when_it_comes_back_elsewhere_and_once(
    talk: Talk, home: Path
) -> None:
    async with talk() as client:
        key = await contribute(client)
        hint = await fails(client)
        assert key in hint
        assert "amount_net" in hint
        assert "KeyError" in hint
        assert await fails(client) == ""
        await ask(client, "status")
    assert [event.node for event in events_of(home, SHOWN)] == [key]


@pytest.mark.parametrize(
    ("command", "printed"),
    [
        ("grep -n total billing.py", ""),
        ("npm run build", "Error: Cannot find module 'left-pad'"),
        ("pytest -q", "FAILED tests/test_api.py::test_login - AssertionError: assert 401 == 200"),
    ],
)
async def test_another_error_shows_nothing(talk: Talk, command: str, printed: str) -> None:
    async with talk() as client:
        await contribute(client)
        assert await fails(client, command, printed) == ""


async def test_a_check_that_passes_after_its_trace_was_shown_is_a_vote_of_little_weight(talk: Talk, home: Path) -> None:
    async with talk() as client:
        key = await contribute(client)
        await fails(client)
        await edits(client, 'row["net"]', 'row["amount_net"]')
        await passes(client)
        await passes(client)
        await ask(client, "status")
    [vote] = events_of(home, VOTED)
    assert (vote.node, vote.data["voter"], vote.data["up"]) == (key, SEEN, True)


async def test_a_hard_won_solution_is_proposed_once_to_the_person_and_kept_only_on_consent(
    talk: Talk, home: Path
) -> None:
    async with talk() as client:
        await solve(client)
        said = str((await told(client, "hook_stop", stop_hook_active="false"))["systemMessage"])
        token = re.findall(r"contribute (\w+)", said)[0]
        await ask(client, "status")
        with Store.open(home / "repertoire.db") as store:
            assert [trace.status for trace in store.traces.all()] == [DRAFT]
        assert "amount_net" in await ask(client, "get_trace", id=token)
        assert "No trace fits" in await ask(client, "search_traces", query="KeyError: 'net' in totals")
        await solve(client)
        assert await told(client, "hook_stop", stop_hook_active="false") == {}
        await ask(client, "contribute_trace", token=token)
        assert "amount_net" in await ask(client, "search_traces", query="totals fail", error=HERE)
    assert len(events_of(home, PROPOSED)) == 1


async def test_a_quiet_session_hears_nothing_at_its_end(talk: Talk, home: Path) -> None:
    async with talk() as client:
        await fails(client, "pytst -q", "bash: pytst: command not found")
        await passes(client)
        await edits(client, "a", "b")
        await passes(client)
        assert await told(client, "hook_stop", stop_hook_active="false") == {}
        await ask(client, "status")
    assert events_of(home, PROPOSED) == []


async def test_a_command_that_failed_here_with_nothing_changed_since_is_told_in_one_line(talk: Talk) -> None:
    async with talk() as client:
        run = {"tool_name": "Bash", "tool_input": json.dumps({"command": "pytest -q"})}
        assert await told(client, "hook_before", **run) == {}
        await fails(client)
        output = (await told(client, "hook_before", **run))["hookSpecificOutput"]
        assert output["hookEventName"] == "PreToolUse"
        assert "pytest -q" in output["additionalContext"]
        assert "\n" not in output["additionalContext"]
        assert await told(client, "hook_before", **run) == {}, "it is told once"
        await edits(client, "a", "b")
        assert await told(client, "hook_before", **run) == {}


@pytest.mark.parametrize("switch", [{"REPERTOIRE_TRACE_HINTS": "false"}, {"REPERTOIRE_OFF": "1"}])
async def test_a_switch_silences_it(
    talk: Talk, home: Path, environment: dict[str, str], switch: dict[str, str]
) -> None:
    environment.update(switch)
    async with talk() as client:
        await contribute(client)
        assert await fails(client) == ""
        await solve(client)
        assert await told(client, "hook_stop", stop_hook_active="false") == {}
    assert events_of(home, SHOWN) + events_of(home, PROPOSED) == []
