"""What is said in a session waits for review where the project has a memory, and nothing of it is kept elsewhere."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from mcp import Client

from app.projects.small_project import FILES, begin, write
from mcp_server.talk import Talk, ask, text_of
from mcp_server.test_trace_hooks import solve
from repertoire.cli.main import cli

pytestmark = pytest.mark.anyio
SAID = "The kiln is cold again. We decided to fire it with gas from now on."


@pytest.fixture
def kiln(home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, environment: dict[str, str]) -> Path:
    root = write(tmp_path / "kiln-project", FILES)
    begin(home, root).close()
    environment["CLAUDE_PROJECT_DIR"] = str(root)
    monkeypatch.setenv("CLAUDE_PROJECT_DIR", str(root))
    return root


async def told(client: Client, name: str, where: Path, **arguments: Any) -> Mapping[str, Any]:
    result = await client.call_tool(name, {"session_id": "s1", "cwd": str(where), **arguments})
    assert not result.is_error
    output: Mapping[str, Any] = json.loads(text_of(result))
    return output


async def turn(client: Client, where: Path, prompt: str, message: str = "Done.") -> str:
    """Prompt, end the turn, and return what the person is told."""
    await told(client, "hook_prompt", where, prompt=prompt)
    return str((await told(client, "hook_stop", where, last_assistant_message=message)).get("systemMessage", ""))


async def test_a_decision_in_a_prompt_waits_for_review_is_told_once_and_becomes_a_note_by_consent(
    talk: Talk, kiln: Path
) -> None:
    async with talk() as client:
        said = await turn(client, kiln, SAID)
        assert "project review" in said
        assert await turn(client, kiln, "We agreed that glaze is lead-free", "- TODO: weigh the clay of each pot") == ""
        listed = await ask(client, "memory_review")
        assert {"fire it with gas", "glaze is lead-free", "weigh the clay"} <= {
            one for one in ("fire it with gas", "glaze is lead-free", "weigh the clay") if one in listed
        }
        assert "Nothing of this" in await ask(client, "memory_list")
        names = re.findall(r"^([0-9a-f]{8}) ", listed, re.MULTILINE)
        done = await ask(client, "memory_review", accept=names[:1], reject=names[1:])
        assert "saved:" in done
        assert done.count("rejected:") == 2
        assert await turn(client, kiln, SAID) == ""
    shown = CliRunner().invoke(cli, ["project", "review", "--json"])
    assert json.loads(shown.output)["waiting"] == []


async def test_what_a_message_lists_is_noticed_beside_a_proposal_to_keep_a_solution(talk: Talk, kiln: Path) -> None:
    message = (
        "It passes again.\n\n1. **Decision: read the new column**\n- [ ] TODO: weigh the clay of each pot\n\nDone."
    )
    async with talk() as client:
        await solve(client)
        said = await turn(client, kiln, "thanks", message)
        assert "/repertoire:trace contribute" in said
        assert "project review" in said
        listed = await ask(client, "memory_review")
        await ask(client, "get_trace", id=re.findall(r"contribute (\w+)", said)[0])
    assert "read the new column" in listed
    assert "weigh the clay of each pot" in listed


async def test_a_quiet_session_and_another_project_leave_nothing(
    talk: Talk, kiln: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with talk() as client:
        assert await turn(client, kiln, "why is the kiln cold?", "It has no gas. Next steps: buy some.") == ""
        with monkeypatch.context() as elsewhere:
            elsewhere.setenv("CLAUDE_PROJECT_DIR", str(tmp_path))
            assert await turn(client, tmp_path, SAID) == ""
        assert "No candidate" in await ask(client, "memory_review")


@pytest.mark.parametrize("settings", ['{"note_candidates": false}', '{"store_prompts": "off"}'])
async def test_a_setting_leaves_nothing(talk: Talk, kiln: Path, home: Path, settings: str) -> None:
    (home / "settings.json").write_text(settings)
    async with talk() as client:
        assert await turn(client, kiln, SAID) == ""
        assert "No candidate" in await ask(client, "memory_review")


async def test_what_was_heard_before_requests_were_forgotten_does_not_come_back_at_the_end_of_the_turn(
    talk: Talk, kiln: Path
) -> None:
    async with talk() as client:
        await told(client, "hook_prompt", kiln, prompt=SAID)
        assert CliRunner().invoke(cli, ["forget", "--requests", "--yes"]).exit_code == 0
        assert await turn(client, kiln, "We agreed that glaze is lead-free") != ""
        listed = await ask(client, "memory_review")
    assert "lead-free" in listed
    assert "gas" not in listed
