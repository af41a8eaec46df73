"""Which request the work after a prompt belongs to: a new one, the one before, or none."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from mcp import Client

from mcp_server.talk import Talk, ask, events_of, load_model
from repertoire.domain.component import SELECTED as CHOSEN
from repertoire.domain.event import ASKED, BAD, CLOSED, SELECTED, UNKNOWN
from repertoire.learning.outcomes import trials
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


@pytest.mark.parametrize("told_first", [True, False])
async def test_a_slash_command_ends_the_request_that_was_interrupted(
    talk: Talk, home: Path, *, told_first: bool
) -> None:
    async with talk() as client:
        await say(client, PROMPT)
        await say(client, "go on")
        if told_first:
            await say(client, "/ship")
        await hook(client, "hook_expanded", command_name="ship", command_args="")
        if not told_first:
            await say(client, "/ship")
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


@pytest.mark.parametrize("prompt", ["implement the plan", "same for orders please", "[Image #1]", "yes"])
async def test_work_after_a_follow_up_belongs_to_the_request_before_it(talk: Talk, home: Path, prompt: str) -> None:
    async with talk() as client:
        await say(client, PROMPT)
        await hook(client, "hook_stop")
        await say(client, "thanks")
        await hook(client, "hook_stop")
        await say(client, prompt)
        await use(client)
        await hook(client, "hook_stop")
        await ask(client, "status")
    [used] = events_of(home, SELECTED)
    assert {(event.request, event.data["prompt"]) for event in events_of(home, ASKED)} == {(used.request, PROMPT)}
    assert learned(home) == 1


@pytest.mark.parametrize("kept", ["redacted", "vectors"])
async def test_a_prompt_that_corrects_is_no_request_of_its_own(
    talk: Talk, home: Path, environment: dict[str, str], kept: str
) -> None:
    environment["REPERTOIRE_STORE_PROMPTS"] = kept
    async with talk() as client:
        await load_model(client)
        await say(client, PROMPT)
        await use(client, "changelog")
        await hook(client, "hook_stop")
        await say(client, "no, that's wrong, it's the orders table")
        await use(client)
        await ask(client, "status")
    assert len({event.request for event in events_of(home, ASKED, SELECTED)}) == 1
    assert (learned(home), learned(home, CHANGELOG)) == (1, 1)


async def test_a_follow_up_of_a_slash_command_or_of_nothing_belongs_to_no_request(talk: Talk, home: Path) -> None:
    async with talk() as client:
        await say(client, "implement the plan")
        await use(client)
        await hook(client, "hook_stop")
        await say(client, PROMPT)
        await hook(client, "hook_stop")
        await hook(client, "hook_expanded", command_name="ship", command_args="0.4.0")
        await say(client, "/ship 0.4.0")
        await hook(client, "hook_stop")
        await say(client, "now do the next step")
        await use(client)
        await ask(client, "status")
    assert [event.request for event in events_of(home, SELECTED)] == ["", "", ""]
    assert [event.data["prompt"] for event in events_of(home, ASKED)] == [PROMPT]
    assert learned(home) == 0


async def test_what_is_used_after_a_follow_up_alone_is_blamed_for_a_correction(talk: Talk, home: Path) -> None:
    async with talk() as client:
        await say(client, PROMPT)
        await use(client, "changelog")
        await hook(client, "hook_stop")
        await say(client, "ok now do the next step")
        await use(client)
        await hook(client, "hook_stop")
        await say(client, "that's wrong")
        await ask(client, "status")
    found = {trial.node: trial.outcome for trial in trials(events_of(home)) if trial.selected_at}
    assert found == {CHANGELOG: UNKNOWN, PDF: BAD}


async def test_many_calls_of_a_server_that_nobody_knows_take_nothing_from_a_session(
    talk: Talk, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("repertoire.app.session.spool._REMEMBERED", 5)
    async with talk() as client:
        await say(client, PROMPT)
        for tool in ("search", "read") * 5:
            await hook(client, "hook_used", tool_name=f"mcp__claude_ai_Gmail__{tool}", tool_input="{}")
        await use(client)
        await ask(client, "status")
    [asked], used = events_of(home, ASKED), events_of(home, SELECTED)
    assert [event.request for event in used] == [asked.request, asked.request]
    assert learned(home) == 1
