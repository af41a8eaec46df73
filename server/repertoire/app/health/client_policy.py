"""Finds what settings of Claude Code, an administrator's above all, keep of this plugin from running."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from repertoire.domain.component import HOOK, MCP_SERVER, PLUGIN, Component
from repertoire.domain.health import FAIL, WARN, Finding
from repertoire.domain.invocation import server_name
from repertoire.learning.selections import OURS
from repertoire.sources.client_files import as_object, config_folder, json_object, settings, settings_files
from repertoire.sources.policy import Policy, policy
from repertoire.sources.withheld import Withheld, withheld

SERVER = "graph"  # as server/mcp.json calls it; a test compares them
ASK = "ask who manages this machine"
_CHECK = "client-policy"
_SILENT = "so no hook of ours runs, and nothing is suggested or recorded by itself"
_TOOLLESS = "so Claude has none of our tools, and neither hints for prompts nor the record of uses work"


def limits(environment: Mapping[str, str], *, project: Path) -> Iterator[Finding]:
    """Yield a finding for each part of the installed plugin that settings keep from running."""
    config = config_folder(environment)
    listed, place = _installed_as(config)
    if not listed:
        return
    allowed = policy(environment, project)
    why = allowed(_part(PLUGIN, listed))
    if why and allowed.plugins.get(listed) is not False:  # that it is off is told with whether it is installed
        yield Finding(_CHECK, FAIL, f"Claude Code does not load {listed}: {why}", ASK)
    if why:
        return
    yield from _of_server(_command(place), listed, allowed, withheld(environment, project))
    if hooks := allowed(_part(HOOK, listed)):
        wanted = json.dumps({"enabledPlugins": {listed: True}})
        yield Finding(_CHECK, WARN, f"{hooks}, {_SILENT}", f"{ASK} to add {wanted}")
    files = [file for file in settings_files(config, project) if settings(file).get("disableAllHooks") is True]
    if files:
        yield Finding(_CHECK, WARN, f"disableAllHooks is set, {_SILENT}", f"take it out of {files[-1]}")


def _of_server(command: Mapping[str, Any], listed: str, allowed: Policy, kept: Withheld) -> Iterator[Finding]:
    name = server_name(SERVER, OURS)
    if why := allowed(_part(MCP_SERVER, listed, command)):
        rule = json.dumps({"serverCommand": [command["command"], *command["args"]]})
        yield Finding(_CHECK, FAIL, f"{why}, {_TOOLLESS}", f"ask who wrote these settings to allow {rule}")
    elif name in kept.servers:
        text = f"the MCP server {name} is turned off in this project, {_TOOLLESS}"
        yield Finding(_CHECK, WARN, text, "turn it on in /mcp")
    elif kept(MCP_SERVER, SERVER, OURS):
        text = (
            f"permissions.deny refuses Claude the MCP server {name}, so it has none of our tools, though it gets hints"
        )
        yield Finding(_CHECK, WARN, text, "take the rule out, or turn the suggestions off in the plugin's settings")


def is_ours(name: str) -> bool:
    """Tell whether a plugin, by its name with its marketplace's, is this one."""
    return name.rpartition("@")[0] == OURS


def _part(kind: str, listed: str, stated: Mapping[str, Any] | None = None) -> Component:
    name, marketplace = SERVER if kind == MCP_SERVER else OURS, listed.rpartition("@")[2]
    return Component("", kind, name, plugin=OURS, marketplace=marketplace, installed=True, front_matter=stated or {})


def _command(place: Path) -> dict[str, Any]:
    """Return the command line of our server as the client starts it from a folder."""
    stated = as_object(as_object(json_object(place / "server" / "mcp.json").get("mcpServers")).get(SERVER))
    words = [str(word).replace("${CLAUDE_PLUGIN_ROOT}", str(place)) for word in stated.get("args", ())]
    return {"command": str(stated.get("command", "")), "args": words}


def _installed_as(config: Path) -> tuple[str, Path]:
    """Return the plugin's name with its marketplace's, empty where it is not installed, and the folder that it runs in.

    Of a marketplace that is a folder the client runs the plugin there, and not the copy that it makes.
    """
    plugins = config / "plugins"
    listed = as_object(json_object(plugins / "installed_plugins.json").get("plugins"))
    for name, records in listed.items():
        if is_ours(name):
            first = as_object(records[0] if isinstance(records, list) and records else records)
            known = as_object(json_object(plugins / "known_marketplaces.json").get(name.rpartition("@")[2]))
            source = as_object(known.get("source"))
            folder = source.get("path") if source.get("source") == "directory" else first.get("installPath")
            return name, Path(str(folder or "/nowhere"))
    return "", Path("/nowhere")
