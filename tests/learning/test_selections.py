"""The component that a tool call or a slash command uses, among several of one name."""

from __future__ import annotations

from typing import Any

import pytest

from repertoire.domain.component import Component
from repertoire.learning.selections import choose, from_command, from_tool, names_to_try


def some(kind: str, name: str, *, plugin: str = "", installed: bool = False, path: str = "") -> Component:
    key = f"s:{plugin}/{kind}/{name}"
    return Component(id=key, type=kind, name=name, plugin=plugin, installed=installed, path=path)


SHELF = [
    some("skill", "fill", plugin="pdf"),
    some("skill", "fill", plugin="forms", installed=True),
    some("skill", "fill"),
    some("command", "fill", plugin="pdf"),
    some("agent", "fill", plugin="pdf"),
    some("mcp_server", "pg_main", plugin="data_kit", installed=True),
    some("mcp_server", "github"),
    some("skill", "security-review"),
    some("command", "verify"),
    some("skill", "verify", plugin="checks", installed=True),
    some("command", "tag", plugin="ship", path="commands/git/tag.md", installed=True),
    some("command", "tag", path="commands/git/tag.md", installed=True),
    some("agent", "reader", plugin="ship", path="agents/deep/file.md", installed=True),
]


def chosen(tool: str, arguments: dict[str, Any]) -> str | None:
    mention = from_tool(tool, arguments)
    assert mention is not None
    tried = set(names_to_try(mention))
    found = choose(mention, [component for component in SHELF if component.name in tried])
    return found.id if found is not None else None


@pytest.mark.parametrize(
    ("tool", "arguments", "expected"),
    [
        ("Skill", {"skill": "pdf:fill"}, "s:pdf/skill/fill"),
        ("Skill", {"skill": "forms:fill", "args": "x"}, "s:forms/skill/fill"),
        ("Skill", {"skill": "fill"}, "s:forms/skill/fill"),
        ("Skill", {"command": "/fill"}, "s:forms/skill/fill"),
        ("Agent", {"subagent_type": "pdf:fill"}, "s:pdf/agent/fill"),
        ("Task", {"subagent_type": "fill"}, "s:pdf/agent/fill"),
        ("mcp__github__create_issue", {}, "s:/mcp_server/github"),
        ("mcp__plugin_data_kit_pg_main__query", {}, "s:data_kit/mcp_server/pg_main"),
        ("Skill", {"skill": "elsewhere:fill"}, "s:/skill/fill"),
        ("Skill", {"skill": "unknown"}, None),
        ("Skill", {"skill": "security-review"}, None),  # the client's own: the one of that name is not installed
        ("Skill", {"skill": "verify"}, "s:checks/skill/verify"),
        ("Agent", {"subagent_type": "other:unknown"}, None),
        ("Skill", {"skill": "ship:git:tag"}, "s:ship/command/tag"),
        ("Skill", {"skill": "git:tag"}, "s:/command/tag"),
        ("Agent", {"subagent_type": "ship:deep:reader"}, "s:ship/agent/reader"),
    ],
)
def test_the_component_that_is_meant(tool: str, arguments: dict[str, Any], expected: str | None) -> None:
    assert chosen(tool, arguments) == expected


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("Bash", {"command": "ls"}),
        ("Read", {"file_path": "x"}),
        ("Skill", {}),
        ("Skill", {"skill": 3}),
        ("Agent", {"subagent_type": "general-purpose"}),
        ("Agent", {"subagent_type": "Explore"}),
        ("Agent", {"subagent_type": "claude"}),
    ],
)
def test_other_calls_select_nothing(tool: str, arguments: dict[str, Any]) -> None:
    assert from_tool(tool, arguments) is None


def test_a_command_may_be_a_skill_too_but_is_a_command_first() -> None:
    mention = from_command("/pdf:fill")
    assert mention is not None
    found = choose(mention, SHELF)
    assert found is not None
    assert found.id == "s:pdf/command/fill"


@pytest.mark.parametrize(
    "tool", ["mcp__plugin_repertoire_graph__status", "mcp__plugin_repertoire_graph__recommend_set"]
)
def test_our_own_tools_are_ours(tool: str) -> None:
    mention = from_tool(tool, {})
    assert mention is not None
    assert mention.ours
    skill = from_tool("Skill", {"skill": "repertoire:recommend"})
    assert skill is not None
    assert skill.ours
