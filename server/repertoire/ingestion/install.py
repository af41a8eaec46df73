"""Builds the install lines of a component, from its path, its plugin and its marketplace."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from shlex import join, quote

from repertoire.domain.component import (
    AGENT,
    COMMAND,
    HOOK,
    MCP_SERVER,
    OF_PLUGIN,
    PACKAGE,
    PLUGIN,
    SETTING,
    SKILL,
    TOOL,
    WORKFLOW,
)
from repertoire.ingestion import hooks
from repertoire.ingestion.clients import folder_client
from repertoire.ingestion.parts import GUIDANCE_FILES, Draft, PluginFacts, folder, in_folder, stem

_STYLES = "~/.claude/output-styles"
_FOLDERS = {AGENT: "agents", COMMAND: "commands"}
_RENAMED, _CONVERTED = (".agent.md", ".prompt.md"), (".instructions.md", ".mdc")
_PATHS = "(applyTo|fileMatchPattern|globs)"  # the key `paths` in the rules of Copilot, Kiro, Cursor and Windsurf
_NOT_A_NAME = re.compile(r"[^A-Za-z0-9_-]+")
# an archive is no marketplace, the folder that lies in it is one
_UNPACK = (
    "Unpack the archive, and add the folder with `.claude-plugin` in it as a marketplace by `/plugin marketplace add`"
)
_WITH_ANOTHER = (TOOL, PACKAGE)  # a tool is installed with its server; a package has its registry's install line


@dataclass(frozen=True)
class Site:
    """The location of a source, and the marketplaces and plugins that Claude Code has already."""

    location: str = ""  # a folder; empty if the source is not on this machine
    marketplace_address: str = ""  # the argument of `/plugin marketplace add`
    known_marketplaces: frozenset[str] = frozenset()
    installed_plugins: frozenset[str] = frozenset()  # `name@marketplace`
    disabled_plugins: frozenset[str] = field(default_factory=frozenset)


def lines(draft: Draft, path: str, plugin: PluginFacts | None, site: Site) -> tuple[str, ...]:
    """Return the lines that install a component, in order; none if there is no known way."""
    if plugin is not None and plugin.marketplace and plugin.taken:
        return _of_plugin(plugin, site)
    if plugin is not None and draft.type != PLUGIN and OF_PLUGIN in f"{draft.body} {draft.install}":
        draft, path = replace(draft, type=PLUGIN, name=plugin.name, install=()), plugin.root or "."
    if draft.install or not site.location or _is_for_others(draft, path):
        return draft.install
    if draft.type == PLUGIN and plugin is not None and not plugin.taken:
        return ()
    if draft.type == SETTING and plugin is not None and plugin.declares(path):  # nothing else of the type is declared
        return (_copied(quote(f"{site.location.rstrip('/')}/{path}"), _STYLES),)
    return (_by_hand(draft, path, site.location.rstrip("/")),)


def stdio_server_line(name: str, variables: Mapping[str, str], command: Sequence[str]) -> str:
    """Return the shell command that adds an MCP server that the client starts, with the variables that it reads.

    The client itself fills in a variable without a value when it starts the server.
    """
    told = ((variable, value or f"${{{variable}}}") for variable, value in variables.items())
    given = [part for variable, value in told for part in ("-e", f"{variable}={value}")]
    return f"claude mcp add {join([_server(name), *given])} -- {join(command)}"


def remote_server_line(name: str, transport: str, address: str, headers: Sequence[str] = ()) -> str:
    """Return the shell command that adds an MCP server at a web address, with the headers that it is sent.

    The client itself fills in `${NAME}` when it reaches the server.
    """
    sent = [part for header in headers for part in ("--header", header)]
    return f"claude mcp add --transport {transport} {join([_server(name), address, *sent])}"


def _server(name: str) -> str:
    """Replace the characters in a server's name that the client does not accept."""
    return _NOT_A_NAME.sub("-", name).strip("-") or "server"


def _is_for_others(draft: Draft, path: str) -> bool:
    """Tell whether a component lies elsewhere, comes with another, or is no file that Claude Code or GitHub reads."""
    if "://" in path or draft.type in _WITH_ANOTHER:
        return True
    if draft.type == WORKFLOW:
        return "on" not in draft.front_matter
    if draft.type in _FOLDERS:
        unnamed = draft.type == AGENT and not all(draft.front_matter.get(key) for key in ("name", "description"))
        return unnamed or not path.endswith(".md")  # the client loads no agent without both
    if draft.type == MCP_SERVER:
        return path.endswith(".md") or "registry_name" in draft.front_matter
    return draft.type == PLUGIN and path.endswith((".yml", ".yaml"))  # a collection: its items are installed one by one


def _by_hand(draft: Draft, path: str, location: str) -> str:
    place = quote(f"{location}/{path}")
    if draft.type == SETTING and not path.endswith(".json"):
        return _of_text(path, place)
    if draft.type == SKILL:
        whole = f"{location}/{folder(path)}".rstrip("/")
        return _copied_folder(whole, quote(_folder_name(draft.name, path, location)))
    if draft.type in _FOLDERS:
        renamed = quote(f"{stem(path)}.md") if path.endswith(_RENAMED) else ""  # a command is called by its file
        return _copied(place, f"~/.claude/{_FOLDERS[draft.type]}", renamed)
    if draft.type in (HOOK, SETTING, MCP_SERVER):
        return _merged(draft, place)
    if draft.type == WORKFLOW:
        return _copied(place, ".github/workflows")
    # a plugin of no marketplace is loaded from where skills lie
    whole = location if path == "." else f"{location}/{path}"
    return _copied_folder(whole, quote(_folder_name(draft.name, f"{path}/", location)))


def _merged(draft: Draft, place: str) -> str:
    line = f"merge {place} into {'.mcp.json' if draft.type == MCP_SERVER else '~/.claude/settings.json'}"
    programs = hooks.started_files(draft.commands) if draft.type == HOOK else ()
    if not programs:
        return line
    # without them the hook fails at every event, and may block the tool
    return f"Copy the programs of this hook from its source to {', '.join(programs)}, then {line}"


def _folder_name(name: str, path: str, location: str) -> str:
    """Return the name for a skill's folder: the skill's own name if possible, because the client lists it by folder."""
    if name[:1].isalnum() and not {"/", "\\", ":"} & set(name):
        return name
    return folder(path).rpartition("/")[2] or location.rpartition("/")[2]


def _of_text(path: str, place: str) -> str:
    """Return the line that installs an output style, a rule or guidance, converted from other clients' forms."""
    if path.rpartition("/")[2] in GUIDANCE_FILES:
        return f"merge {place} into CLAUDE.md"
    if in_folder(path, "output-styles", "output_styles"):
        return _copied(place, _STYLES)
    if not path.endswith(_CONVERTED) and not folder_client(path):
        return _copied(place, "~/.claude/rules")
    target = f"~/.claude/rules/{quote(f'{stem(path)}.md')}"  # other clients list a rule's files under another key
    return f"mkdir -p ~/.claude/rules && sed -E 's/^{_PATHS}:/paths:/' {place} > {target}"


def _copied(what: str, target: str, name: str = "") -> str:
    """Return a copy command for bash, dash, zsh and fish; it creates the folder, which Claude Code does not."""
    return f"mkdir -p {target} && cp {what} {target}/{name}"


def _copied_folder(whole: str, name: str) -> str:
    """Return a copy command that can be repeated; `cp -R A B` would put A into a B that is there already."""
    return f"mkdir -p ~/.claude/skills/{name} && cp -R {quote(f'{whole}/.')} ~/.claude/skills/{name}/"


def _of_plugin(plugin: PluginFacts, site: Site) -> tuple[str, ...]:
    name = f"{plugin.listed_as or plugin.name}@{plugin.marketplace}"
    if name in site.disabled_plugins:
        return (f"/plugin enable {name}",)
    lines = (f"/plugin install {name}", *((f"/plugin enable {name}",) if plugin.starts_on is False else ()))
    if plugin.marketplace in site.known_marketplaces:
        return lines
    add = f"/plugin marketplace add {site.marketplace_address}" if site.marketplace_address else _UNPACK
    return (add, *lines)
