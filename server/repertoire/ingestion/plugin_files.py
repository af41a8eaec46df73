"""Tells which files in a plugin's folder are installed with it: those that Claude Code or its manifest looks for."""

from __future__ import annotations

from repertoire.domain.component import AGENT, COMMAND, HOOK, MCP_SERVER, SETTING, SKILL
from repertoire.ingestion.parts import PluginFacts

_FOLDERS = {AGENT: ("agents/",), COMMAND: ("commands/",), SETTING: ("output-styles/",), SKILL: ("skills/",)}
_SKILL_DEPTH = 2  # folders above a SKILL.md (skills/NAME): the client finds deeper skills only through a manifest
_FILES = {HOOK: ("hooks/hooks.json",), MCP_SERVER: (".mcp.json",), SKILL: ("SKILL.md",)}


def carries(plugin: PluginFacts, path: str, kind: str) -> bool:
    """Tell whether installing a plugin also installs the component at this path in its folder."""
    if kind not in _FOLDERS and kind not in _FILES:
        return True
    if path == plugin.manifest or plugin.declared.get(path) == kind:
        return True
    if any(declared == kind and _reaches(place, path, kind) for place, declared in plugin.declared.items()):
        return True
    if kind in plugin.instead:
        return False
    inside = path.removeprefix(f"{plugin.root}/") if plugin.root else path
    if kind == SKILL and inside.count("/") > _SKILL_DEPTH:
        return False
    return inside.startswith(_FOLDERS.get(kind, ())) or inside in _FILES.get(kind, ())


def _reaches(place: str, path: str, kind: str) -> bool:
    """Tell whether a folder that the manifest names holds a file: a skill in a folder of its own right there."""
    return path.startswith(f"{place}/") and (kind != SKILL or path[len(place) :].count("/") <= _SKILL_DEPTH)
