"""A fact on a command that failed before holds within one turn: at a prompt a person may have changed anything."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from mcp import Client

from mcp_server.talk import Talk, ask, events_of
from mcp_server.test_trace_hooks import edits, fails, states, told
from repertoire.domain.event import SHOWN, TAKEN
from repertoire.mcp_server.dispatcher import Dispatcher
from repertoire.mcp_server.server import build_server

pytestmark = pytest.mark.anyio


async def is_told(client: Client, command: str = "pytest -q", **more: str) -> bool:
    """Tell whether a session hears of a command's failure before it runs again."""
    run = {"tool_name": "Bash", "tool_input": json.dumps({"command": command}), **more}
    return await told(client, "hook_before", **run) != {}


@pytest.mark.parametrize(
    "prompt", ["I fixed the fixture by hand, run the tests again", "done, logged in", "/review", "yes"]
)
async def test_after_a_prompt_no_fact_is_told_for_the_person_may_have_changed_anything(talk: Talk, prompt: str) -> None:
    async with talk() as client:
        await fails(client)
        await told(client, "hook_stop", stop_hook_active="false")
        await told(client, "hook_prompt", prompt=prompt)
        assert not await is_told(client)


async def test_a_fact_holds_in_the_folder_where_the_command_failed(talk: Talk) -> None:
    async with talk() as client:
        await fails(client)
        assert not await is_told(client, cwd="/srv/ci/store/web")
        assert await is_told(client)


@pytest.mark.parametrize("switch", ["REPERTOIRE_TRACE_HINTS", "REPERTOIRE_HINTS", "REPERTOIRE_SUGGESTIONS"])
async def test_where_hints_are_off_nothing_of_a_failed_command_is_kept(
    talk: Talk, home: Path, environment: dict[str, str], switch: str
) -> None:
    async with talk() as client:
        await fails(client)
        assert states(home)
    environment[switch] = "false"
    other = Dispatcher(environment)
    async with Client(build_server(other.handlers)) as client:
        await edits(client, "a", "b")
        assert not states(home), "what was kept before is deleted"
        await fails(client)
        await told(client, "hook_stop", stop_hook_active="false")
    other.close()
    assert not states(home)


async def test_in_a_muted_project_nothing_of_a_failed_command_is_kept(
    talk: Talk, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CLAUDE_PROJECT_DIR", "/srv/ci/store")
    async with talk() as client:
        await ask(client, "mute", target="project")
        await fails(client)
    assert not states(home)


async def test_neither_a_prompt_nor_a_look_around_takes_a_fact(talk: Talk, home: Path) -> None:
    look = json.dumps({"command": "python -c 'print(1)'"})
    async with talk() as client:
        for session in ("prompt", "look", "edit"):
            await fails(client, session_id=session)
            assert await is_told(client, session_id=session)
        await told(client, "hook_prompt", prompt="go on with the billing totals", session_id="prompt")
        await told(client, "hook_used", tool_name="Bash", tool_input=look, session_id="look")
        await edits(client, "a", "b", session_id="edit")
        await ask(client, "status")
    assert len(events_of(home, SHOWN)) == 3
    assert [event.session for event in events_of(home, TAKEN)] == ["edit"]
