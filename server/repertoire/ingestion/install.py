"""The lines that install a component, from where it lies and what lists it."""

from __future__ import annotations

from dataclasses import dataclass, field
from shlex import quote

from repertoire.domain.component import (
    AGENT,
    COMMAND,
    HOOK,
    MCP_SERVER,
    PACKAGE,
    PLUGIN,
    SETTING,
    SKILL,
    TOOL,
    WORKFLOW,
)
from repertoire.ingestion.clients import folder_client
from repertoire.ingestion.parts import Draft, PluginFacts, folder, in_folder, stem

_FOLDERS = {AGENT: "agents", COMMAND: "commands"}
_RENAMED, _CONVERTED = (".agent.md", ".prompt.md"), (".instructions.md", ".mdc")
_PATHS = "(applyTo|fileMatchPattern|globs)"  # as Copilot, Kiro, and Cursor and Windsurf say it
_GUIDANCE = ("AGENTS.md", "CLAUDE.md", "GEMINI.md", ".cursorrules", ".windsurfrules", ".clinerules")
_WITH_ANOTHER = (TOOL, PACKAGE)  # a tool comes with its server; a package's registry has the line


@dataclass(frozen=True)
class Site:
    """Where a source lies, and what Claude Code already knows of it."""

    location: str = ""  # a folder; empty where nothing lies on this machine
    marketplace_address: str = ""  # what `/plugin marketplace add` takes
    known_marketplaces: frozenset[str] = frozenset()
    installed_plugins: frozenset[str] = frozenset()  # `name@marketplace`
    disabled_plugins: frozenset[str] = field(default_factory=frozenset)


def lines(draft: Draft, path: str, plugin: PluginFacts | None, site: Site) -> tuple[str, ...]:
    """Return the lines that install a component, in order; none where they cannot be told."""
    if plugin is not None and plugin.marketplace:
        return _of_plugin(plugin, site)
    if draft.install or not site.location or _is_for_others(draft, path):
        return draft.install
    return (_by_hand(draft, path, site.location.rstrip("/")),)


def _is_for_others(draft: Draft, path: str) -> bool:
    """Tell what lies elsewhere, comes with another, or is no file that Claude Code or GitHub reads."""
    if "://" in path or draft.type in _WITH_ANOTHER:
        return True
    if draft.type == WORKFLOW:
        return "on" not in draft.front_matter
    if draft.type in _FOLDERS:
        return not path.endswith(".md")
    if draft.type == MCP_SERVER:
        return path.endswith(".md") or "registry_name" in draft.front_matter
    return draft.type == PLUGIN and path.endswith((".yml", ".yaml"))  # a collection: its items are installed one by one


def _by_hand(draft: Draft, path: str, location: str) -> str:
    place = quote(f"{location}/{path}")
    if draft.type == SETTING and not path.endswith(".json"):
        return _of_text(path, place)
    if draft.type == SKILL:
        whole = quote(f"{location}/{folder(path)}".rstrip("/"))
        return _copied(f"-R {whole}", "~/.claude/skills", quote(draft.name))
    if draft.type in _FOLDERS:
        renamed = quote(f"{stem(path)}.md") if path.endswith(_RENAMED) else ""  # a command is called by its file
        return _copied(place, f"~/.claude/{_FOLDERS[draft.type]}", renamed)
    if draft.type in (HOOK, SETTING, MCP_SERVER):
        return f"merge {place} into {'.mcp.json' if draft.type == MCP_SERVER else '~/.claude/settings.json'}"
    if draft.type == WORKFLOW:
        return _copied(place, ".github/workflows")
    return f"claude --plugin-dir {quote(location if path == '.' else f'{location}/{path}')}"


def _of_text(path: str, place: str) -> str:
    """Return how a text that shapes every answer is taken over: Claude Code reads styles, rules and CLAUDE.md."""
    if path.rpartition("/")[2] in _GUIDANCE:
        return f"merge {place} into CLAUDE.md"
    if in_folder(path, "output-styles", "output_styles"):
        return _copied(place, "~/.claude/output-styles")
    if not path.endswith(_CONVERTED) and not folder_client(path):
        return _copied(place, "~/.claude/rules")
    target = f"~/.claude/rules/{quote(f'{stem(path)}.md')}"  # the files for which a rule holds stand under another key
    return f"mkdir -p ~/.claude/rules && sed -E 's/^{_PATHS}:/paths:/' {place} > {target}"


def _copied(what: str, target: str, name: str = "") -> str:
    """Return a line that bash, dash, zsh and fish read alike; its folder is made, since Claude Code makes none."""
    return f"mkdir -p {target} && cp {what} {target}/{name}"


def _of_plugin(plugin: PluginFacts, site: Site) -> tuple[str, ...]:
    name = f"{plugin.listed_as or plugin.name}@{plugin.marketplace}"
    if name in site.disabled_plugins:
        return (f"/plugin enable {name}",)
    add: tuple[str, ...] = ()
    if plugin.marketplace not in site.known_marketplaces and site.marketplace_address:
        add = (f"/plugin marketplace add {site.marketplace_address}",)
    return (*add, f"/plugin install {name}")
