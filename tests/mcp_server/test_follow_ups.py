"""Which request the work after a prompt belongs to: a new one, the one before, or none."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from mcp import Client

from mcp_server.talk import Talk, ask, events_of
from repertoire.domain.component import SELECTED as CHOSEN
from repertoire.domain.event import ASKED, CLOSED, SELECTED
from repertoire.store.database import Store
from sample_home import SOURCE

pytestmark = pytest.mark.anyio

PROMPT = "Deploy our services to Kubernetes with the Helm chart and roll back if it fails"
PDF, CHANGELOG = f"{SOURCE.key}:skills/pdf-forms.md", f"{SOURCE.key}:skills/changelog.md"


async def hook(client: Client, name: str, **arguments: str) -> None:
    done = await client.call_tool(name, {"session_id": "s1", "cwd": "/project", **arguments})
    assert not done.is_error


async def say(client: Client, prompt: str) -> None:
    await hook(client, "hook_prompt", prompt=prompt)


async def use(client: Client, skill: str = "pdf-forms") -> None:
    await hook(client, "hook_used", tool_name="Skill", tool_input=json.dumps({"skill": skill}))


def learned(home: Path, node: str = PDF) -> int:
    """Return the number of past requests that selected a component."""
    with Store.open(home / "repertoire.db") as store:
        return sum(link.relation == CHOSEN for link in store.graph.links(node))


@pytest.mark.parametrize("prompt", ["commit", "Review!", "push it now"])
async def test_other_work_after_an_interrupted_prompt_is_not_learned_for_it(
    talk: Talk, home: Path, prompt: str
) -> None:
    async with talk() as client:
        await say(client, PROMPT)
        await say(client, "stop")
        await say(client, prompt)
        await use(client)
        await ask(client, "status")
    [asked], [closed], [used] = (events_of(home, kind) for kind in (ASKED, CLOSED, SELECTED))
    assert (closed.request, used.request) == (asked.request, "")
    assert learned(home) == 0


async def test_a_slash_command_ends_the_request_that_was_interrupted(talk: Talk, home: Path) -> None:
    async with talk() as client:
        await say(client, PROMPT)
        await say(client, "/ship")
        await hook(client, "hook_expanded", command_name="ship", command_args="")
        await use(client)
        await ask(client, "status")
    assert [event.request for event in events_of(home, SELECTED)] == ["", ""]
    assert learned(home) == 0


@pytest.mark.parametrize(
    "prompt", ["yes", "go on", "thanks, continue", "that's wrong", "<task-notification>done</task-notification>"]
)
async def test_small_talk_and_corrections_leave_the_request_open(talk: Talk, home: Path, prompt: str) -> None:
    async with talk() as client:
        await say(client, PROMPT)
        await say(client, prompt)
        await use(client)
        await ask(client, "status")
    [asked], [used] = (events_of(home, kind) for kind in (ASKED, SELECTED))
    assert used.request == asked.request
    assert learned(home) == 1
