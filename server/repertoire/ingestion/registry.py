"""The ordered list of strategies, one for each kind of file: the first that claims a file reads it."""

from __future__ import annotations

from repertoire.ingestion.fixtures import is_fixture
from repertoire.ingestion.parts import SourceLayout, Strategy
from repertoire.ingestion.strategies import (
    awesome,
    copilot,
    crew,
    docker_server,
    hook,
    markdown_kinds,
    marketplace,
    mcp_server,
    package,
    plugin,
    python_agents,
    registry_server,
    setting,
    tool_list,
    workflow,
)

STRATEGIES: tuple[Strategy, ...] = (
    marketplace.STRATEGY,
    plugin.STRATEGY,
    mcp_server.STRATEGY,
    docker_server.STRATEGY,
    registry_server.STRATEGY,
    tool_list.STRATEGY,
    setting.STRATEGY,
    hook.STRATEGY,
    markdown_kinds.SKILLS,
    markdown_kinds.AGENTS,
    markdown_kinds.COMMANDS,
    copilot.STRATEGY,
    markdown_kinds.GUIDANCE,
    workflow.STRATEGY,
    crew.STRATEGY,
    awesome.STRATEGY,
    package.STRATEGY,
    python_agents.STRATEGY,
    markdown_kinds.LOOSE,  # last, because it reads any Markdown that is left
)


def strategy_for(path: str, layout: SourceLayout) -> Strategy | None:
    """Return the first strategy that claims a path, or None; nothing claims a fixture of a repository's tests."""
    if is_fixture(path):
        return None
    return next((strategy for strategy in STRATEGIES if strategy.claims(path, layout)), None)
