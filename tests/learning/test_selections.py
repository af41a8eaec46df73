"""The component that a tool call or a slash command uses, among several of one name."""

from __future__ import annotations

from dataclasses import replace
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
    ("tool", "server", "name"),
    [
        ("mcp__dotted_name__query", "dotted.name", "dotted.name"),
        ("mcp__two_words__query", "two words", "two words"),
        ("mcp__two__underscores__query", "two__underscores", "two__underscores"),
        ("mcp__plugin_data_kit_pg_main__query", "plugin:data_kit:pg.main", "pg.main"),
        ("mcp__plugin_data_kit_pg_main__query", "plugin:data:kit_pg_main", "kit_pg_main"),
    ],
)
def test_a_server_is_found_by_the_name_that_the_client_tells_beside_the_tools(
    tool: str, server: str, name: str
) -> None:
    mention = from_tool(tool, {}, server)
    assert mention is not None
    plugin = "data_kit" if "data_kit:" in server else "data" if "data:" in server else ""
    shelf = [some("mcp_server", name, plugin=plugin), some("mcp_server", "pg_main", plugin="data_kit", installed=True)]
    assert choose(mention, shelf) == shelf[0]


@pytest.mark.parametrize(
    ("kind", "tool", "arguments", "first"),
    [
        ("skill", "Skill", {"skill": "sorter"}, "user:~/.claude"),
        ("command", "Skill", {"skill": "sorter"}, "user:~/.claude"),
        ("agent", "Agent", {"subagent_type": "sorter"}, "project:/project"),
        ("mcp_server", "mcp__sorter__sort", {}, "project:/project"),
    ],
)
def test_of_a_persons_and_a_projects_own_the_one_that_the_client_uses_is_meant(
    kind: str, tool: str, arguments: dict[str, Any], first: str
) -> None:
    copies = [
        replace(some(kind, "sorter", installed=True), id=f"{source}:x")
        for source in ("user:~/.claude", "project:/project")
    ]
    mention = from_tool(tool, arguments)
    assert mention is not None
    for shelf in (copies, copies[::-1]):
        found = choose(mention, shelf)
        assert found is not None
        assert found.id == f"{first}:x"


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


def test_a_slash_command_uses_the_skill_that_runs_before_a_command_of_its_name_except_in_plugins() -> None:
    for plugin, name, kind in (("", "tidy", "skill"), ("kit", "kit:tidy", "command")):
        both = [some(type_, "tidy", plugin=plugin, installed=True, path="") for type_ in ("command", "skill")]
        mention = from_command(f"/{name}")
        assert mention is not None
        found = choose(mention, both)
        assert found is not None
        assert found.type == kind
