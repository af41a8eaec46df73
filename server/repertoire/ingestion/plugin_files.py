"""Tells which files in a plugin's folder are installed with it: those that Claude Code or its manifest looks for."""

from __future__ import annotations

from repertoire.domain.component import AGENT, COMMAND, HOOK, MCP_SERVER, SETTING, SKILL
from repertoire.ingestion import started
from repertoire.ingestion.invocation import is_miscalled
from repertoire.ingestion.parts import PluginFacts

_FOLDERS = {AGENT: ("agents/",), COMMAND: ("commands/",), SETTING: ("output-styles/",), SKILL: ("skills/",)}
_SKILL_DEPTH = 2  # folders above a SKILL.md (skills/NAME): the client finds deeper skills only through a manifest
_FILES = {HOOK: ("hooks/hooks.json", *started.FILES), MCP_SERVER: (".mcp.json",)}


def carries(plugin: PluginFacts, path: str, kind: str, skills: frozenset[str]) -> bool:
    """Tell whether installing a plugin also installs the component at this path in its folder.

    `skills` are the folders of all skills in the source.
    """
    if kind == SKILL:
        return _carries_skill(plugin, path, skills) or _carries(plugin, path, COMMAND)
    return not has_place(kind) or path == plugin.manifest or _carries(plugin, path, kind)


def has_place(kind: str) -> bool:
    """Tell whether Claude Code looks for components of a type at usual places in a plugin's folder."""
    return kind in _FOLDERS or kind in _FILES


def _carries(plugin: PluginFacts, path: str, kind: str) -> bool:
    if plugin.declared.get(path) == kind:
        return True
    if any(declared == kind and path.startswith(f"{place}/") for place, declared in plugin.declared.items()):
        return True
    inside = _inside(plugin, path)
    usual = inside.startswith(_FOLDERS.get(kind, ())) or inside in _FILES.get(kind, ())
    return usual and kind not in plugin.instead


def _carries_skill(plugin: PluginFacts, path: str, skills: frozenset[str]) -> bool:
    """Tell whether a skill is one of those in the usual folder or in one that the manifest names, but not by its file.

    The one at the top is left out beside others.
    """
    places = [place for place, declared in plugin.declared.items() if declared == SKILL]
    if is_miscalled(path):
        return False
    if any(_reaches(place, path, skills) for place in places):
        return True
    inside, usual = _inside(plugin, path), _FOLDERS[SKILL]
    if inside == "SKILL.md":
        return not places and not any(_inside(plugin, skill).startswith(usual) for skill in skills)
    return SKILL not in plugin.instead and inside.startswith(usual) and inside.count("/") <= _SKILL_DEPTH


def _reaches(place: str, path: str, skills: frozenset[str]) -> bool:
    """Tell whether a skill lies in a folder that the manifest names: right there, or else in a folder of its own."""
    below = path.removeprefix(f"{place}/")
    return below == "SKILL.md" if place in skills else below != path and below.count("/") < _SKILL_DEPTH


def _inside(plugin: PluginFacts, path: str) -> str:
    return path.removeprefix(f"{plugin.root}/") if plugin.root else path
