"""What a user types: both names of recommend, the commands, and the question before a deletion."""

from __future__ import annotations

import re

import pytest

from client.api_stub import Script
from client.belongings import A_PROMPT_THAT_NEEDS_ONE, SKILL
from client.graph_tools import ask, call
from client.machine import Machine
from client.session import Session

pytestmark = pytest.mark.client


@pytest.mark.parametrize("name", ["/recommend", "/repertoire:recommend"])
def test_recommend_expands_and_answers_without_a_permission_question(regular: Machine, name: str) -> None:
    script = Script([call("recommend_set", task=A_PROMPT_THAT_NEEDS_ONE), "There it is."])
    session = regular.session(f"{name} {A_PROMPT_THAT_NEEDS_ONE}", script=script)
    assert f"Task: {A_PROMPT_THAT_NEEDS_ONE}" in session.main_requests[0].text
    assert SKILL in session.main_requests[-1].last_message
    assert session.results == ["There it is."]


@pytest.mark.parametrize(
    ("prompt", "tool", "arguments", "answer"),
    [
        ("/repertoire:search PDF forms", "search_components", {"query": "fill in PDF forms"}, SKILL),
        ("/repertoire:status", "status", {}, "component"),
        ("/repertoire:mute nothing-of-this-name", "mute", {"target": "nothing-of-this-name"}, "nothing-of-this-name"),
    ],
)
def test_a_command_expands_and_may_call_its_tool(
    regular: Machine, prompt: str, tool: str, arguments: dict[str, str], answer: str
) -> None:
    session = regular.session(prompt, script=Script([call(tool, **arguments), "Done."]))
    assert f"{tool}`" in session.main_requests[0].text
    assert "requested permissions" not in session.main_requests[-1].last_message
    assert answer in session.main_requests[-1].last_message


def test_install_tells_the_program_of_the_plugin_which_shows_what_would_change(regular: Machine) -> None:
    text = regular.session(f"/repertoire:install {SKILL}", script=Script(["Not done."])).main_requests[0].text
    assert f"Arguments: {SKILL}" in text
    program = re.search(r'"([^"]+/bin/repertoire)" install', text)
    assert program is not None, text
    done = regular.run(program[1], "install", SKILL, "--dry-run")
    assert SKILL in done.stdout, done.stdout + done.stderr


def test_explaining_a_result_of_a_search_says_what_it_does(regular: Machine) -> None:
    assert "spreadsheet" in ask(regular, "explain_component", id=SKILL)


def test_forgetting_asks_for_permission_first(regular: Machine) -> None:
    session = regular.session("/repertoire:forget all", script=Script([call("forget", what="all"), "Not done."]))
    assert "requested permissions" in session.main_requests[-1].last_message
    assert SKILL in ask(regular, "search_components", query="fill in PDF tax forms")


def test_what_was_muted_is_not_suggested_and_can_be_heard_again(regular: Machine) -> None:
    def suggested(session: Session) -> bool:
        return any(SKILL in context for context in session.injected("UserPromptSubmit"))

    ask(regular, "mute", target=SKILL)
    assert not suggested(regular.session("hello", A_PROMPT_THAT_NEEDS_ONE))
    ask(regular, "mute", target=SKILL, undo=True)
    assert suggested(regular.answered_session(A_PROMPT_THAT_NEEDS_ONE))
