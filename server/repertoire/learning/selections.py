"""Reads which component a tool call or slash command uses, and finds it among stored components of that name."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from repertoire.domain.component import AGENT, COMMAND, MCP_SERVER, SKILL, Component
from repertoire.domain.invocation import precedence

OURS = "repertoire"
_MCP, _PLUGIN, _TOLD_PLUGIN = "mcp__", "plugin_", "plugin:"
_BUILT_IN_AGENTS = frozenset(
    ("claude", "general-purpose", "explore", "plan", "statusline-setup", "claude-code-guide", "fork")
)
# Commands and skills that Claude Code has itself, as its version 2.1.332 and those before it list them.
_BUILT_IN = frozenset(
    """add-dir agents auto-mode-setup autocompact batch bug claude-api clear code-review color compact config context
    cost dataviz debug deep-research design design-sync doctor effort export fast fewer-permission-prompts
    focus goal heapdump help hooks ide init insights keybindings-help login logout loop mcp memory model
    output-style permissions plugin plugin-authoring pr-comments recap release-notes reload-plugins
    reload-skills rename resume review run run-skill-generator schedule security-review simplify skills stats
    status statusline tasks team-onboarding terminal-setup todos update-config usage verify vim
    workflow-authoring""".split()
)


@dataclass(frozen=True)
class Mention:
    """A call's mention of a component: possible types, and possible readings as (plugin, name)."""

    types: tuple[str, ...]
    readings: tuple[tuple[str, str], ...]
    text: str

    @property
    def ours(self) -> bool:
        """Whether the component is a part of Repertoire itself, whose use says nothing about needs."""
        return any(plugin == OURS for plugin, _ in self.readings)


def from_tool(tool: str, arguments: Mapping[str, Any], server: str = "") -> Mention | None:
    """Return the component that a tool call mentions; None for a tool that is no component.

    `server`: the name of the server as the client tells it, since a tool's name has `_` for each dot and blank of it.
    """
    if tool == "Skill":
        return _mention((SKILL, COMMAND), _first_text(arguments, ("skill", "command", "name")))
    if tool in {"Agent", "Task"}:
        name = _first_text(arguments, ("subagent_type", "agent_type"))
        return None if name.lower() in _BUILT_IN_AGENTS else _mention((AGENT,), name)
    if tool.startswith(_MCP):
        return _server(server or tool.removeprefix(_MCP).partition("__")[0])
    return None


def from_command(command: str) -> Mention | None:
    """Return a mention of the command or skill that a slash command names; None if it has no name."""
    return _mention((COMMAND, SKILL), command.removeprefix("/"))


def choose(mention: Mention, candidates: Sequence[Component]) -> Component | None:
    """Return the stored component that a mention means, installed ones first; None if there is none.

    What is started by exactly this name comes first, of several what runs. A name that Claude Code has itself means
    nobody's component that is not installed.
    """
    own = mention.text.lower() in _BUILT_IN
    fitting = [one for one in candidates if one.type in mention.types and (one.installed or not own)]
    started = [one for one in fitting if one.installed and one.call_name.lower() == mention.text.lower()]
    if started and MCP_SERVER not in mention.types:
        return min(started, key=lambda one: precedence(one.type, one.id, one.plugin))
    for plugin, name in mention.readings:
        same = [c for c in fitting if c.name.lower() in {name.lower(), f"{plugin}:{name}".lower()}]
        of_plugin = [c for c in same if c.plugin.lower() == plugin.lower()] if plugin else same
        # A component from a bare folder has no known plugin and may be meant; one of another plugin is not.
        chosen = of_plugin or [c for c in same if not c.plugin]
        if chosen:
            return min(
                chosen,
                key=lambda c: (
                    not c.installed,
                    mention.types.index(c.type),
                    bool(c.plugin) != bool(plugin),
                    precedence(c.type, c.id, c.plugin),
                ),
            )
    return None


def names_to_try(mention: Mention) -> Iterable[str]:
    """Return the names under which the mentioned component may be stored."""
    return dict.fromkeys(
        spelling for plugin, name in mention.readings for spelling in (name, f"{plugin}:{name}" if plugin else name)
    )


def _first_text(arguments: Mapping[str, Any], keys: Sequence[str]) -> str:
    values = (arguments.get(key) for key in keys)
    return next((value.strip().removeprefix("/") for value in values if isinstance(value, str) and value.strip()), "")


def _mention(types: tuple[str, ...], text: str) -> Mention | None:
    if not text:
        return None
    plugin, _, name = text.rpartition(":")
    return Mention(types, ((plugin, name),), text)


def _server(text: str) -> Mention:
    """Parse `server`, `plugin:<plugin>:<server>`, or `plugin_<plugin>_<server>`, whose parts may hold underscores."""
    if text.startswith(_TOLD_PLUGIN):
        plugin, _, name = text.removeprefix(_TOLD_PLUGIN).partition(":")
        return Mention((MCP_SERVER,), ((plugin, name),), text)
    if not text.startswith(_PLUGIN):
        return Mention((MCP_SERVER,), (("", text),), text)
    parts = text.removeprefix(_PLUGIN).split("_")
    splits = tuple(("_".join(parts[:cut]), "_".join(parts[cut:])) for cut in range(1, len(parts)))
    return Mention((MCP_SERVER,), (*splits, ("", text)), text)
