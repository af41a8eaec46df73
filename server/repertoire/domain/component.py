"""Components, the edges between nodes, and what a source yields: the values that rooms hand to each other."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from repertoire.domain.trust import Flag

SKILL, AGENT, COMMAND, HOOK, MCP_SERVER, PLUGIN, SETTING, TOOL, PACKAGE, WORKFLOW = (
    "skill",
    "agent",
    "command",
    "hook",
    "mcp_server",
    "plugin",
    "setting",
    "tool",  # one thing that a server, a framework or a command line lets a model call
    "package",  # what a package registry holds
    "workflow",  # steps that run agents, or that agents run
)
COMPONENT_TYPES = (SKILL, AGENT, COMMAND, HOOK, MCP_SERVER, PLUGIN, SETTING, TOOL, PACKAGE, WORKFLOW)

# node types
COMPONENT, CAPABILITY, PATTERN, REQUEST, REQUIREMENT, CONCEPT = (
    "component",
    "capability",
    "pattern",
    "request",
    "requirement",  # a stand-in for what a component depends on outside the graph: `binary:docker`, `env:API_KEY`
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
# between components, both ways: a twin carries the same text elsewhere, a conflict keeps two out of one set
TWIN_OF, CONFLICTS_WITH = "twin_of", "conflicts_with"
CURATOR = "curator"  # the evidence of edges that a person set by hand

BODY_INDEXED = 2500  # characters of a body that are searched; the whole text stays readable


@dataclass(frozen=True)
class Component:
    """One thing that Claude Code can use, as a source describes it.

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
    popularity: float = 0.0  # ≥ 0: what marketplace files say, how many repositories carry it, in-degree
    version: int = 1  # counts the contents seen under this id
    flags: tuple[Flag, ...] = ()  # what static checks found in this content
    client: str = ""  # whose it is, where another client than Claude Code reads it; such a one is never recommended
    client_reason: str = ""  # how that shows


def is_pointer(component_id: str) -> bool:
    """Tell whether an id is a pointer's: its path is an address, and a list of links alone names it."""
    return ":https://" in component_id


@dataclass(frozen=True)
class Node:
    """A node that is no component: capability, pattern, requirement or concept. `key` is `type:name`."""

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
    """What became of one file of a source: the components, nodes and edges that it carries, or why it was skipped.

    `content_hash` covers everything the record was made from, so an equal hash means an equal record.
    """

    path: str
    content_hash: str
    components: tuple[Component, ...] = ()
    nodes: tuple[Node, ...] = ()
    edges: tuple[Edge, ...] = ()
    skipped: str = ""  # the reason, where nothing was taken


@dataclass(frozen=True)
class FileFate:
    """The outcome for one file of a source; `of` names the component that it belongs to, or says why it is none."""

    path: str
    became: str  # component | part | skipped | none
    of: str = ""


@dataclass(frozen=True)
class SourceInfo:
    """Where components come from; `key` is stable: `github.com/owner/name`, `folder:/path`, `catalogue`."""

    key: str
    kind: str  # folder | git | marketplace | installed | project | catalogue | eval
    location: str
    repository: str = ""
    commit: str = ""


@dataclass(frozen=True)
class IngestReport:
    """What one ingest of one source did; counts are components."""

    source: str
    components: int
    changed: int
    unchanged: int
    removed: int
    skipped: tuple[Skipped, ...]
    seconds: float
    warnings: tuple[str, ...] = ()
