"""Components, nodes, edges, and the records that an ingest of a source yields."""

from __future__ import annotations

import re
import shlex
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from repertoire.domain.invocation import call_name
from repertoire.domain.trust import Flag

SKILL, AGENT, COMMAND, HOOK, MCP_SERVER, PLUGIN, SETTING, TOOL, PACKAGE, WORKFLOW, DOCUMENTATION = (
    "skill",
    "agent",
    "command",
    "hook",
    "mcp_server",
    "plugin",
    "setting",
    "tool",  # one call that a server, a framework or a command line offers to a model
    "package",  # an entry of a package registry
    "workflow",  # steps that run agents, or that agents run
    "pack",  # documentation in the home that query_pack asks
)
COMPONENT_TYPES = (SKILL, AGENT, COMMAND, HOOK, MCP_SERVER, PLUGIN, SETTING, TOOL, PACKAGE, WORKFLOW, DOCUMENTATION)

# node types
COMPONENT, CAPABILITY, PATTERN, REQUEST, REQUIREMENT, CONCEPT = (
    "component",
    "capability",
    "pattern",
    "request",
    "requirement",  # a dependency outside the graph: `binary:docker`, `env:API_KEY`
    "concept",  # an edge end that is no component: known by name only
)

# relations
PROVIDES, DEPENDS_ON, CO_OCCURS_WITH, ALTERNATIVE_TO, PART_OF, MENTIONS, MEMBER_OF, SELECTED = (
    "provides",
    "depends_on",
    "co_occurs_with",
    "alternative_to",
    "part_of",
    "mentions",
    "member_of",
    "selected",
)
# Symmetric relations between components: a twin has the same text elsewhere; two that conflict are never in one set.
TWIN_OF, CONFLICTS_WITH = "twin_of", "conflicts_with"
ONE_PLUGIN = "parts of one plugin"  # the evidence of edges between what one plugin bundles
CURATOR = "curator"  # the evidence of edges that a person set by hand

_WITH_RANGE = re.compile(r"^(@?[^@<>=!~^\s]+)(.*)$")

OPTIONAL_WEIGHT = 0.4  # of a `depends_on` edge to a server that a component uses where it is configured

OF_PLUGIN = "CLAUDE_PLUGIN_ROOT"  # what a text with this variable starts is a file of its plugin
BODY_INDEXED = 2500  # characters of a body that are searched; the whole text stays readable


@dataclass(frozen=True)
class Component:
    """A skill, agent, command, hook, server or other component that Claude Code can use, as its source describes it.

    `id` is `source:path[#name]` and survives re-ingestion.
    """

    id: str
    type: str
    name: str
    description: str = ""
    body: str = ""
    code: str = ""  # fenced code and tool signatures; embedded in a space of its own
    examples: tuple[str, ...] = ()
    front_matter: Mapping[str, Any] = field(default_factory=dict)
    allowed_tools: tuple[str, ...] = ()
    repository: str = ""
    path: str = ""
    plugin: str = ""
    marketplace: str = ""
    licence: str = ""
    content_hash: str = ""
    first_commit: str = ""  # ISO date; empty where the source has no history
    last_commit: str = ""
    installed: bool = False
    install: tuple[str, ...] = ()  # lines that install it, in order
    popularity: float = 0.0  # ≥ 0, from installs in marketplace files, repositories that carry it, and its in-degree
    version: int = 1  # number of different contents seen under this id
    flags: tuple[Flag, ...] = ()  # findings of the static checks in this content
    client: str = ""  # the client that reads it, if not Claude Code; such a component is never recommended
    client_reason: str = ""  # the evidence for `client`
    # What ranking reads as its description: name and description translated word by word, and before them what the
    # shipped catalogue says of it. Empty where that is the description as it stands.
    english: str = ""
    invocation: str = ""  # who alone may start it, one of `domain.invocation`; empty where anybody may

    @property
    def call_name(self) -> str:
        """The name under which Claude Code lists and starts it once it is installed."""
        return call_name(self.type, self.name, self.path, self.plugin)

    @property
    def described(self) -> str:
        """The description as ranking reads it: the catalogue's words first, in English as far as it is translated."""
        return self.english or self.description


def path_in(source: str, component_id: str) -> str:
    """Return the path of a component's file in its source, by their key and id."""
    return component_id.removeprefix(f"{source}:").partition("#")[0]


def is_pointer(component_id: str) -> bool:
    """Tell whether an id belongs to a pointer, which is known from a list of links only: its path is a web address."""
    return ":https://" in component_id


def not_installable(component: Component) -> str:
    """Return why a component that is not installed cannot be installed as it is; empty if it can be, or is a pointer.

    The client refuses such a plugin's manifest, or would not load such a file. `Graph.unobtainable` has the same rule.
    """
    if component.installed or component.install or component.client or is_pointer(component.id):
        return ""
    if component.type == PLUGIN:
        return "Claude Code refuses its manifest; its parts can be installed one by one"
    if component.type == MCP_SERVER and component.front_matter.get("url") == "":
        return "its configuration has no address, the author leaves it to you"
    return "Claude Code would not load it"


@dataclass(frozen=True)
class Node:
    """A graph node other than a component: a capability, pattern, requirement or concept; `key` is `type:name`."""

    key: str
    type: str
    name: str
    data: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Edge:
    """A weighted relation between two node keys, with its evidence (which file, which session)."""

    source: str
    target: str
    relation: str
    weight: float = 1.0
    evidence: str = ""


@dataclass(frozen=True)
class Skipped:
    """A file that looked like a component and was left out, with the reason."""

    path: str
    reason: str


@dataclass(frozen=True)
class FileRecord:
    """The result of reading one file of a source: its components, nodes and edges, or the reason why it was skipped.

    `content_hash` covers everything that the record was made from, so equal hashes mean equal records.
    """

    path: str
    content_hash: str
    components: tuple[Component, ...] = ()
    nodes: tuple[Node, ...] = ()
    edges: tuple[Edge, ...] = ()
    skipped: str = ""  # the reason why nothing was taken from the file; empty if something was


@dataclass(frozen=True)
class FileFate:
    """The outcome for one file of a source; `of` names its component, or the reason why it has none."""

    path: str
    became: str  # component | part | skipped | none
    of: str = ""
    notes: tuple[str, ...] = ()  # what had to be tolerated in it


# Keys and kinds of two sources: the one that names the packs of the home, and the shipped one, which lists only some
# components of a repository or plugin.
PACKS, CATALOGUE = "packs", "catalogue"


def name_and_range(requirement: str) -> tuple[str, str]:
    """Return the name in a requirement such as `react@^18`, and its range of versions; both empty if it has no name."""
    found = _WITH_RANGE.match(requirement)
    return (found.group(1), found.group(2)) if found else ("", "")


@dataclass(frozen=True)
class SourceInfo:
    """A source that components come from; `key` is stable: `github.com/owner/name`, `folder:/path`, `catalogue`."""

    key: str
    kind: str  # folder | git | marketplace | installed | project | catalogue | eval
    location: str
    repository: str = ""
    commit: str = ""


@dataclass(frozen=True)
class IngestReport:
    """The result of one ingest of one source; its numbers count components."""

    source: str
    components: int
    changed: int
    unchanged: int
    removed: int
    skipped: tuple[Skipped, ...]
    seconds: float
    warnings: tuple[str, ...] = ()


def stands_alone(kind: str, marketplace: str, body: str) -> bool:
    """Tell whether a component of this type, in a plugin of this marketplace, can be copied without the rest of it.

    What starts its plugin's files works with all of them only; so does what copies a plugin of no marketplace.
    """
    return kind in (SKILL, AGENT, COMMAND) and bool(marketplace) and OF_PLUGIN not in body


def alone_line(key: str) -> str:
    """Return the command that copies a component out of its plugin."""
    return f"repertoire install {shlex.quote(key)} --alone"
