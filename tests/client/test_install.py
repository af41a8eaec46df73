"""The plugin validates, installs from a git marketplace, and stands in the client's listings."""

from __future__ import annotations

import pytest

from client.api_stub import Request
from client.graph_tools import PREFIX, SERVER
from client.machine import REPOSITORY, Machine

pytestmark = pytest.mark.client

SKILLS = {"repertoire:choosing-components", "repertoire:keeping-the-graph-current", "repertoire:recommend"}
COMMANDS = {f"repertoire:{name}" for name in ("explain", "feedback", "forget", "ingest", "mute", "search", "status")}
TOOLS = {"explain_component", "ingest_repo", "recommend_set", "search_components", "status"}


def test_the_strict_validation_passes_without_a_warning(installed: Machine) -> None:
    done = installed.command("plugin", "validate", "--strict", "--json", str(REPOSITORY))
    report = done.json
    assert done.returncode == 0
    assert report["success"]
    assert report["manifest"]["errors"] + report["manifest"]["warnings"] == []
    assert report["advice"] == []
    assert {hook["event"] for hook in report["provides"]["hooks"]} == {
        *("SessionStart", "UserPromptSubmit", "UserPromptExpansion"),
        *("PreToolUse", "PostToolUse", "PostToolUseFailure", "Stop", "SessionEnd"),
    }


def test_an_installed_copy_runs_from_the_clients_cache(installed: Machine) -> None:
    plugin = installed.listed_plugin()
    assert plugin["enabled"]
    assert plugin["installPath"].startswith(str(installed.home))
    assert not plugin.get("errors")


def test_server_skills_commands_and_agent_stand_in_the_listing(newcomer: Machine) -> None:
    session = newcomer.session("hello")
    assert session.returncode == 0
    assert session.server_status(SERVER) == "connected"
    assert set(session.init["skills"]) >= SKILLS
    assert set(session.init["slash_commands"]) >= COMMANDS
    assert "repertoire:curator" in session.init["agents"]
    assert {PREFIX + tool for tool in TOOLS} <= set(session.init["tools"])


def test_the_model_reads_when_to_use_our_skills_and_agent_and_nothing_of_the_users_commands(newcomer: Machine) -> None:
    listing = newcomer.session("hello").main_requests[0].text
    for name in [*SKILLS, "repertoire:curator"]:
        [line] = [line for line in listing.splitlines() if line.startswith(f"- {name}:")]
        assert "Use when" in line or "Use after" in line
    assert not any(f"- {name}:" in listing for name in COMMANDS)


def test_the_entry_points_of_hooks_are_not_offered_to_the_model(newcomer: Machine) -> None:
    everything_up_front = newcomer.also(ENABLE_TOOL_SEARCH="false")
    session = everything_up_front.session("hello")
    offered = session.main_requests[0].tool_names
    assert {PREFIX + tool for tool in TOOLS} <= set(offered)
    assert not [name for name in [*offered, *session.init["tools"]] if "hook_" in name]
    assert not _mentions_an_entry_point(newcomer.session("hello").main_requests[0])


def _mentions_an_entry_point(request: Request) -> bool:
    return f"{PREFIX}hook_" in str(request.body)
