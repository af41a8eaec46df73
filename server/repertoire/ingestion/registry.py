"""The ordered list of strategies, one for each kind of file: the first that claims a file reads it."""

from __future__ import annotations

from repertoire.ingestion.parts import SourceLayout, Strategy
from repertoire.ingestion.strategies import (
    agent,
    awesome,
    command,
    copilot,
    crew,
    docker_server,
    guidance,
    hook,
    loose,
    marketplace,
    mcp_server,
    package,
    plugin,
    python_agents,
    registry_server,
    setting,
    skill,
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
    skill.STRATEGY,
    agent.STRATEGY,
    command.STRATEGY,
    copilot.STRATEGY,
    guidance.STRATEGY,
    workflow.STRATEGY,
    crew.STRATEGY,
    awesome.STRATEGY,
    package.STRATEGY,
    python_agents.STRATEGY,
    loose.STRATEGY,  # last, because it reads any Markdown that is left
)


def strategy_for(path: str, layout: SourceLayout) -> Strategy | None:
    """Return the first strategy that claims a path, or None."""
    return next((strategy for strategy in STRATEGIES if strategy.claims(path, layout)), None)
