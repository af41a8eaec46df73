"""What a session is told unasked: at its start, at a prompt that needs a component, and when silenced."""

from __future__ import annotations

import pytest

from client.belongings import A_PROMPT_THAT_NEEDS_ONE, CHIT_CHAT, SKILL
from client.machine import REPOSITORY, Machine, Settle

pytestmark = pytest.mark.client

LONGEST_HINT = 1500


def test_a_session_in_a_known_kind_of_project_starts_with_context_even_without_a_store(newcomer: Machine) -> None:
    session = newcomer.answered_session("hello", event="SessionStart")
    [context] = session.injected("SessionStart")
    assert len(context) < LONGEST_HINT
    assert context in session.main_requests[0].text


def test_the_start_is_told_again_after_a_compaction(regular: Machine) -> None:
    session = regular.session("hello", CHIT_CHAT, "/compact", CHIT_CHAT)
    assert len(session.injected("SessionStart")) == 2
    assert session.injected("SessionStart")[1] in session.main_requests[-1].text


def test_a_prompt_that_needs_a_component_carries_it_in_its_request(regular: Machine) -> None:
    session = regular.answered_session(CHIT_CHAT, A_PROMPT_THAT_NEEDS_ONE)
    [context] = session.injected("UserPromptSubmit")
    assert SKILL in context
    assert len(context) < LONGEST_HINT
    assert context in session.main_requests[-1].last_message


def test_the_very_first_prompt_of_a_session_is_answered_too(regular: Machine) -> None:
    session = regular.answered_session(A_PROMPT_THAT_NEEDS_ONE)
    assert any(SKILL in context for context in session.injected("UserPromptSubmit"))


@pytest.mark.parametrize(
    "prompt",
    [
        CHIT_CHAT,
        "<task-notification>Fill in the fields of these PDF tax forms: done</task-notification>",
        f"use {SKILL} on the forms in this folder",
    ],
)
def test_a_prompt_that_needs_no_suggestion_gets_nothing(regular: Machine, prompt: str) -> None:
    session = regular.session("hello", prompt)
    assert session.injected("UserPromptSubmit") == []
    assert [run["outcome"] for run in session.hook_runs("UserPromptSubmit")] == ["success", "success"]


def test_the_same_hint_is_not_given_twice_in_a_session(regular: Machine) -> None:
    session = regular.answered_session(A_PROMPT_THAT_NEEDS_ONE, A_PROMPT_THAT_NEEDS_ONE)
    told = [context for context in session.injected("UserPromptSubmit") if SKILL in context]
    assert len(told) == 1


def test_the_off_switch_of_the_environment_silences_everything(regular: Machine) -> None:
    session = regular.also(REPERTOIRE_OFF="1").session(A_PROMPT_THAT_NEEDS_ONE, A_PROMPT_THAT_NEEDS_ONE)
    assert session.returncode == 0
    assert session.injected("SessionStart") + session.injected("UserPromptSubmit") == []


def test_the_plugins_own_switch_silences_everything(settle: Settle, regular: Machine) -> None:
    machine = settle()
    machine.install(REPOSITORY, suggestions="false")
    variables = {name: regular.env[name] for name in ("REPERTOIRE_HOME", "REPERTOIRE_PYTHON")}
    session = machine.also(**variables).session("hello", A_PROMPT_THAT_NEEDS_ONE)
    assert session.injected("SessionStart") + session.injected("UserPromptSubmit") == []
