"""hooks.json: one broken entry silences every hook, so each is checked before the client sees it."""

from __future__ import annotations

import re
from typing import Any

import pytest

from plugin.surface import ROOT, SERVER, read_json

HOOKS: dict[str, list[dict[str, Any]]] = read_json("hooks/hooks.json")["hooks"]
EACH = [(event, group, hook) for event, groups in HOOKS.items() for group in groups for hook in group["hooks"]]
MCP_HOOKS = [(event, hook) for event, _, hook in EACH if hook["type"] == "mcp_tool"]
SUBSTITUTED = {
    "UserPromptSubmit": {"prompt"},
    "UserPromptExpansion": {"command_name", "command_args"},
    "PostToolUse": {"tool_name", "tool_input", "mcp_server"},
    "Bash": {"tool_name", "tool_input", "tool_response"},
    "PreToolUse": {"tool_name", "tool_input"},
    "PostToolUseFailure": {"tool_name", "tool_input", "mcp_server", "error"},
    "Stop": {"stop_hook_active", "last_assistant_message"},
}


def test_every_moment_has_one_hook_and_what_a_shell_printed_one_more() -> None:
    moments = ["Bash" if "tool_response" in hook.get("input", {}) else event for event, _, hook in EACH]
    assert sorted(moments) == sorted(["SessionStart", "SessionEnd", *SUBSTITUTED])


def test_only_the_start_and_end_of_a_session_spawn_a_process() -> None:
    # an mcp_tool hook fails there: the server may not be up yet, or not any more
    assert [event for event, _, hook in EACH if hook["type"] == "command"] == ["SessionStart", "SessionEnd"]


def test_session_start_runs_isolated_without_a_shell_and_for_every_source() -> None:
    [group] = HOOKS["SessionStart"]
    [hook] = group["hooks"]
    assert group["matcher"].split("|") == ["startup", "resume", "clear", "compact", "fork"]
    assert hook["args"] == ["-I", "-S", "${CLAUDE_PLUGIN_ROOT}/hooks/session_start.py"]
    assert hook["timeout"] <= 5


def test_session_end_runs_isolated_within_the_time_that_the_client_gives() -> None:
    [[hook]] = [group["hooks"] for group in HOOKS["SessionEnd"]]
    assert hook["args"] == ["-I", "-S", "${CLAUDE_PLUGIN_ROOT}/hooks/session_end.py"]
    assert hook["timeout"] <= 1.5


@pytest.mark.parametrize("script", ["session_start.py", "session_end.py"])
def test_a_script_of_a_session_exists(script: str) -> None:
    assert (ROOT / "hooks" / script).is_file()


@pytest.mark.parametrize(("event", "hook"), MCP_HOOKS)
def test_a_tool_hook_names_our_server_and_never_holds_a_session(event: str, hook: dict[str, Any]) -> None:
    assert hook["server"] == SERVER
    assert hook["timeout"] <= 2  # without one a hung server would hold the prompt for 30 s


@pytest.mark.parametrize(("event", "hook"), MCP_HOOKS)
def test_a_tool_hook_passes_what_its_event_offers(event: str, hook: dict[str, Any]) -> None:
    offered = SUBSTITUTED["Bash" if "tool_response" in hook["input"] else event]
    assert hook["input"] == {name: f"${{{name}}}" for name in {"session_id", "cwd"} | offered}


@pytest.mark.parametrize(("event", "hook"), MCP_HOOKS)
def test_an_entry_point_exists_and_is_not_offered_to_the_model(event: str, hook: dict[str, Any]) -> None:
    tools = read_json("server/tools.json")
    assert hook["tool"] in tools["hooks"]
    assert hook["tool"] not in {tool["name"] for tool in tools["tools"]}


@pytest.mark.parametrize(
    ("event", "tool", "heard"),
    [
        ("PostToolUse", "Skill", True),
        ("PostToolUse", "Agent", True),
        ("PostToolUse", "Task", True),
        ("PostToolUse", "mcp__github__create_issue", True),
        ("PostToolUse", "mcp__plugin_repertoire_graph__status", False),
        ("PostToolUse", "TaskStop", False),
        ("PostToolUse", "Bash", True),
        ("PostToolUse", "Read", False),
        ("PostToolUse", "Edit", True),
        ("PostToolUse", "Write", True),
        ("PostToolUse", "WebSearch", True),
        ("PostToolUse", "NotebookEdit", True),
        ("PostToolUse", "BashOutput", False),
        ("PostToolUseFailure", "Bash", True),
        ("PostToolUseFailure", "mcp__plugin_other_server__tool", True),
        ("PostToolUseFailure", "mcp__plugin_repertoire_graph__ingest_repo", False),
        ("PostToolUseFailure", "Edit", False),
        ("PreToolUse", "Bash", True),
        ("PreToolUse", "Edit", False),
    ],
)
def test_the_matchers_hear_components_and_commands_only(event: str, tool: str, heard: bool) -> None:
    # the client reads a matcher with these signs as an unanchored regular expression
    assert sum(re.search(group["matcher"], tool) is not None for group in HOOKS[event]) == heard
