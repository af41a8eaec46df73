"""Finds the installed MCP servers whose names others would take: the client adds no second one under a name."""

from __future__ import annotations

from repertoire.domain.component import MCP_SERVER, Component
from repertoire.retrieval.snapshot import Snapshot

_ADDS = ("claude", "mcp", "add")
_PROJECT = "project:"  # begins the key of what a project's own files and the client's settings for it name


def taken_name(snapshot: Snapshot, component: Component, project: str) -> str:
    """Return why a server's install line would be refused in a project: another one has its name; empty if none has.

    The server of a plugin is called by the plugin's name too, so that it takes no other's.
    """
    if component.type != MCP_SERVER or component.installed:
        return ""
    words = {word for line in component.install for word in _added(line)}
    for name, source in snapshot.own_servers:
        if name in words and (not source.startswith(_PROJECT) or source == f"{_PROJECT}{project}"):
            said = f"an MCP server called {name} is configured already"
            return f"{said}: add this one under another name, or first `claude mcp remove {name}`"
    return ""


def _added(line: str) -> list[str]:
    words = line.partition(" -- ")[0].split()
    return words[3:] if tuple(words[:3]) == _ADDS else []
