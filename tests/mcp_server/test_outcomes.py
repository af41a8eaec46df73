"""What the server records of how a component did: checks, edits undone, corrections, and somebody's word."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from mcp import Client

from mcp_server.talk import Talk, ask, events_of, load_model
from mcp_server.test_trace_hooks import contribute, edits, fails, passes
from repertoire.app.wiring import open_repertoire
from repertoire.boot.spool import put_off
from repertoire.domain.event import CHECKED, CORRECTED, FAILED, OFFERED, SELECTED, SHOWN, TAKEN, UNDONE, VOTED
from repertoire.learning.outcomes import Trial, trials
from sample_home import SOURCE

pytestmark = pytest.mark.anyio

PROMPT = "Fill in the fields of these PDF tax forms with the values from the spreadsheet"
PDF = f"{SOURCE.key}:skills/pdf-forms.md"


async def hook(client: Client, name: str, **arguments: Any) -> None:
    done = await client.call_tool(name, {"session_id": "s1", "cwd": "/project", **arguments})
    assert not done.is_error


async def use(client: Client) -> None:
    await load_model(client)
    await hook(client, "hook_prompt", prompt=PROMPT)
    await hook(client, "hook_used", tool_name="Skill", tool_input=json.dumps({"skill": "pdf-forms"}))


async def run(client: Client, command: str) -> None:
    await hook(client, "hook_used", tool_name="Bash", tool_input=json.dumps({"command": command}))


async def edit(client: Client, old: str, new: str) -> None:
    told = {"file_path": "/project/a.py", "old_string": old, "new_string": new}
    await hook(client, "hook_used", tool_name="Edit", tool_input=json.dumps(told))


def outcome(home: Path) -> Trial:
    [trial] = [trial for trial in trials(events_of(home)) if trial.selected_at]
    return trial


async def test_a_check_that_passes_after_a_use_says_that_it_went_well(talk: Talk, home: Path) -> None:
    async with talk() as client:
        await use(client)
        await run(client, "uv run pytest -q")
        await ask(client, "status")
    assert (outcome(home).node, outcome(home).rank, outcome(home).outcome) == (PDF, 1, "ok")


async def test_a_call_that_failed_and_succeeds_in_the_same_request_did_not_fail(talk: Talk, home: Path) -> None:
    skill = {"tool_name": "Skill", "tool_input": json.dumps({"skill": "pdf-forms"})}
    async with talk() as client:
        await use(client)
        await hook(client, "hook_failed", **skill, error="no such file")
        await ask(client, "status")
        assert (outcome(home).outcome, outcome(home).because) == ("failed", "its call failed")
        await hook(client, "hook_used", **skill)
        await run(client, "pytest -q")
        await hook(client, "hook_used", **skill)
        await ask(client, "status")
    assert (outcome(home).outcome, outcome(home).because) == ("ok", "a check passed after it")
    assert [event.kind for event in events_of(home) if event.kind in {SELECTED, FAILED}] == [SELECTED, FAILED, SELECTED]
    with open_repertoire(home, environment={}, read_only=True) as opened:
        weights = [edge[3] for edge in opened.store.graph.edges_of(SELECTED)]
    assert weights == [1.0]


async def test_the_next_answer_of_the_same_server_counts_a_failed_call(talk: Talk) -> None:
    async with talk() as client:
        await use(client)
        await ask(client, "status")
        assert "chosen before" in await ask(client, "recommend_set", task=PROMPT)
        skill = {"tool_name": "Skill", "tool_input": json.dumps({"skill": "pdf-forms"})}
        await hook(client, "hook_failed", **skill, error="no such file")
        await ask(client, "status")
        assert "chosen before" not in await ask(client, "recommend_set", task=PROMPT)


async def test_an_edit_undone_or_a_prompt_that_corrects_says_that_it_failed(talk: Talk, home: Path) -> None:
    async with talk() as client:
        await use(client)
        await hook(client, "hook_stop")
        await hook(client, "hook_prompt", prompt="No, that is the wrong sheet")
        await ask(client, "status")
        assert (outcome(home).outcome, outcome(home).because) == ("failed", "the next prompt corrected it")
        await ask(client, "report_outcome", id="pdf-forms", outcome="ok")
        await run(client, "git checkout -- forms")
        await ask(client, "status")
    assert events_of(home, UNDONE)
    assert outcome(home).outcome == "ok"  # somebody's word counts most


async def test_commands_typed_without_a_request_are_turns_of_their_own(talk: Talk, home: Path) -> None:
    corrected = "No, that is the wrong sheet"
    async with talk() as client:
        for prompt in ("/pdf-forms", "/changelog", "/pdf-forms", corrected, "/pdf-forms", corrected):
            await hook(client, "hook_prompt", prompt=prompt)
            if prompt != corrected:
                await hook(client, "hook_expanded", command_name=prompt[1:], command_args="")
            await hook(client, "hook_stop")
        await ask(client, "status")
    found = [(trial.node.rpartition("/")[2], trial.outcome) for trial in trials(events_of(home))]
    assert found == [
        *(("pdf-forms.md", "unknown"), ("changelog.md", "unknown")),
        *(("pdf-forms.md", "failed"), ("pdf-forms.md", "failed")),
    ]


async def test_a_turn_that_begins_with_what_nobody_knows_is_a_turn_of_its_own(talk: Talk, home: Path) -> None:
    async with talk() as client:
        for used in (None, "mcp__weather__forecast"):
            await hook(client, "hook_prompt", prompt="push it now")
            for tool, skill in ((used, ""), ("Skill", "changelog" if used else "pdf-forms")):
                if tool:
                    await hook(client, "hook_used", tool_name=tool, tool_input=json.dumps({"skill": skill}))
            if used is None:
                await hook(client, "hook_stop")
        await run(client, "pytest -q")
        await ask(client, "status")
    found = [(trial.node.rpartition("/")[2], trial.outcome) for trial in trials(events_of(home))]
    assert found == [("pdf-forms.md", "unknown"), ("changelog.md", "ok")]


async def test_an_agent_that_the_client_did_not_start_has_not_failed(talk: Talk, home: Path) -> None:
    agent = {"tool_name": "Agent", "tool_input": json.dumps({"subagent_type": "ledger-auditor"})}
    refusals = ("not found. Available agents: claude", "has been denied by permission rule 'Agent(ledger-auditor)'")
    async with talk() as client:
        for refusal in refusals:
            await hook(client, "hook_failed", **agent, error=f"Agent type 'ledger-auditor' {refusal}")
        await ask(client, "status")
        assert events_of(home, FAILED) == []
        await hook(client, "hook_failed", **agent, error="the agent ran out of turns")
        await ask(client, "status")
    assert len(events_of(home, FAILED)) == 1


async def test_somebodys_word_is_about_the_use_in_the_session_that_says_it(
    talk: Talk, talk_elsewhere: Talk, home: Path
) -> None:
    skill = {"tool_name": "Skill", "tool_input": json.dumps({"skill": "pdf-forms"})}
    async with talk() as one, talk_elsewhere() as other:
        await use(one)
        await hook(other, "hook_prompt", prompt=PROMPT, session_id="s2")
        await hook(other, "hook_used", **skill, session_id="s2")
        await ask(other, "status")
        await ask(one, "report_outcome", id="pdf-forms", outcome="failed")
        await ask(one, "status")
    assert {trial.session: trial.outcome for trial in trials(events_of(home))} == {"s1": "failed", "s2": "unknown"}


async def test_what_a_check_printed_and_an_edit_put_back_are_heard(talk: Talk, home: Path) -> None:
    async with talk() as client:
        await use(client)
        piped, said = json.dumps({"command": "pytest 2>&1 | tail -3"}), json.dumps({"stdout": "4 passed in 0.1s"})
        await hook(client, "hook_used", tool_name="Bash", tool_input=piped, tool_response=said)
        await edit(client, "one", "two")
        await hook(client, "hook_stop", last_assistant_message="Done.")
        await ask(client, "status")
        assert outcome(home).outcome == "ok"
        await edit(client, "two", "one")
        await ask(client, "status")
    assert (outcome(home).outcome, outcome(home).because) == ("failed", "an edit was undone after it")


@pytest.mark.parametrize(
    "moved", [{"cwd": "/elsewhere"}, {"command": "cd ../elsewhere && {}"}, {"command": "cd /tmp; {}"}]
)
async def test_what_is_checked_or_undone_in_another_folder_says_nothing_of_what_was_used_here(
    talk: Talk, home: Path, moved: dict[str, str]
) -> None:
    async with talk() as client:
        await use(client)
        for command in ("git checkout -- forms", "pytest -q"):
            there = json.dumps({"command": moved.get("command", "{}").format(command)})
            await hook(client, "hook_used", tool_name="Bash", tool_input=there, cwd=moved.get("cwd", "/project"))
        await ask(client, "status")
        assert events_of(home, CHECKED, UNDONE) == []
        there = json.dumps({"command": "cd forms && pytest -q"})
        await hook(client, "hook_used", tool_name="Bash", tool_input=there, cwd="/project/forms")
        await ask(client, "status")
    assert outcome(home).outcome == "ok"


@pytest.mark.parametrize(
    "told",
    [
        ("top/web", "top/web", "cd .. && {}"),
        ("top/web", "top", "{}"),
        ("top/web", "top/web", "cd ../api && {}"),
        ("top", "top", "cd .. && {}"),  # from top/web, if the shell's folder is told as it is after the command
        ("link", "top/api", "{}"),
        ("top/web", "link", "cd api && {}"),
    ],
)
async def test_a_check_anywhere_in_the_sessions_repository_is_one_of_it_by_whatever_link(
    talk: Talk, home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, told: tuple[str, str, str]
) -> None:
    session, cwd, command = told
    (tmp_path / "top/.git").mkdir(parents=True)
    for name in ("web", "api"):
        (tmp_path / "top" / name).mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "top")
    (tmp_path / "other").mkdir()
    monkeypatch.setenv("CLAUDE_PROJECT_DIR", str(tmp_path / session))
    async with talk() as client:
        await use(client)
        for place, ran in (("other", "pytest -q"), (session, "cd ../../other && pytest -q")):
            there = json.dumps({"command": ran})
            await hook(client, "hook_used", tool_name="Bash", tool_input=there, cwd=str(tmp_path / place))
        await ask(client, "status")
        assert events_of(home, CHECKED) == []
        here = json.dumps({"command": command.format("pytest -q")})
        await hook(client, "hook_used", tool_name="Bash", tool_input=here, cwd=str(tmp_path / cwd))
        await ask(client, "status")
    assert len(events_of(home, CHECKED)) == 1


async def test_who_answers_a_question_corrects_nothing(talk: Talk, home: Path) -> None:
    async with talk() as client:
        await use(client)
        await hook(client, "hook_stop", last_assistant_message="Filled in. Shall I also flatten the form?")
        await hook(client, "hook_prompt", prompt="No, only the second page of it")
        await ask(client, "status")
    assert outcome(home).outcome == "unknown"


async def test_commands_say_nothing_where_nothing_was_used(talk: Talk, home: Path) -> None:
    async with talk() as client:
        await run(client, "pytest")
        await run(client, "git reset --hard")
        await hook(client, "hook_prompt", prompt="No, that is wrong")
        await ask(client, "status")
    assert events_of(home, CHECKED, UNDONE, CORRECTED) == []


async def test_a_recommended_set_is_an_offer_that_the_projects_next_use_follows(talk: Talk, home: Path) -> None:
    async with talk() as client:
        await ask(client, "recommend_set", task="fill PDF forms from a spreadsheet")
        await hook(client, "hook_used", tool_name="Skill", tool_input=json.dumps({"skill": "pdf-forms"}))
        await ask(client, "status")
    assert [event.data["where"] for event in events_of(home, OFFERED)] == ["set"]
    assert outcome(home).offered_at


async def test_a_second_use_of_what_was_never_suggested_is_no_use_after_a_suggestion(talk: Talk, home: Path) -> None:
    async with talk() as client:
        for request in ("Name the planets in order, please", "Now name the moons of Jupiter, please"):
            await hook(client, "hook_prompt", prompt=request)
            for skill in ("pdf-forms", "no-such-skill"):
                await hook(client, "hook_used", tool_name="Skill", tool_input=json.dumps({"skill": skill}))
        status = await ask(client, "status")
    assert events_of(home, OFFERED) == []
    assert len(events_of(home, SELECTED)) == 4
    assert "after it was suggested" not in status


async def test_a_word_that_changed_is_what_the_next_explanation_tells(talk: Talk) -> None:
    async with talk() as client:
        for outcome, told in (("ok", "went well 1 of 1 time"), ("failed", "went well 0 of 1 time")):
            await ask(client, "report_outcome", id=PDF, outcome=outcome)
            assert told in await ask(client, "explain_component", id=PDF)


async def test_a_trace_that_solved_an_error_is_credited_though_a_greeting_named_it_again_meanwhile(
    talk: Talk, home: Path
) -> None:
    async with talk() as client:
        key = await contribute(client)
        assert key in await fails(client)
        await ask(client, "status")
        [shown] = events_of(home, SHOWN)
        again = {"at": shown.at, "kind": SHOWN, "session": shown.session, "project": shown.project, "node": key}
        put_off(home, [{**again, "data": {"where": "session_start", "type": "trace"}}])  # as after a compaction
        await edits(client, 'row["net"]', 'row["amount_net"]')
        await passes(client)
        await ask(client, "status")
    assert [event.node for event in events_of(home, TAKEN, VOTED)] == [key, key]
