"""Finds twins: components of several sources with the same text, or with a slightly edited one (near-duplicates)."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from repertoire.domain.component import AGENT, COMMAND, MCP_SERVER, PLUGIN, SKILL, TWIN_OF, Component, Edge
from repertoire.ingestion.minhash import plain_words
from repertoire.ports import Outline

SAME_CONTENT = "same content"
TWIN_THRESHOLD = 0.5  # Jaccard similarity of two texts from which they may be twins
_PROSE = (SKILL, AGENT, COMMAND)
_SHORT = 8  # words of the shortest text: two shorter ones are equal by chance
_EDITED = 40  # words of the shortest text whose edited copy can be recognised
_NAMESAKE, _LISTED, _RENAMED, _BESIDE = 0.6, 0.5, 0.8, 0.85
_SAME_PURPOSE, _SAME_PURPOSE_OTHER_NAME = 0.5, 0.8
_CLIQUE = 12  # copies that are all linked with each other; of more, each is linked with the first only
_MOST = 12
_PINNED = re.compile(r"(?<=[\w/])@[\w.^~-]+$")


@dataclass(frozen=True)
class ComponentText:
    """A component with the fields by which twins are found."""

    id: str
    type: str
    name: str
    source: str
    content_hash: str
    text: str  # the hash of its text
    words: int
    purpose: frozenset[str]  # the words of its description
    client: str = ""  # the client that reads it, if not Claude Code

    @classmethod
    def of(cls, outline: Outline, text: str, words: int, purpose: frozenset[str]) -> ComponentText:
        """Make it from a component; `text` is the hash of the words that `identifying_words` returns for it."""
        identity = (outline.id, outline.type, outline.name, outline.source, outline.content_hash)
        return cls(*identity, text, words, purpose, outline.client)

    @property
    def slug(self) -> str:
        """The name in lower case, its words joined by hyphens."""
        return "-".join(plain_words(self.name.replace("_", " ")))

    @property
    def kind(self) -> str:
        """The kind of component that it can be a twin of."""
        return kind_of(self.type)


def kind_of(component_type: str) -> str:
    """Return the kind of a type: skills, agents and commands are one kind, as the same text is published as each."""
    return "prose" if component_type in _PROSE else component_type


def identifying_words(component: Component) -> list[str]:
    """Return the words, in order, by which copies of a component are recognised in other sources.

    For a server they are its address or package, because its description may be its plugin's.
    """
    if component.type == MCP_SERVER:
        reached = _endpoint(component.front_matter)
        return plain_words(f"server reached at {reached} by the model context protocol") if reached else []
    return plain_words(f"{component.description}\n{component.body}")


def _endpoint(config: Mapping[str, object]) -> str:
    url, args = config.get("url"), config.get("args")
    if isinstance(url, str) and "://" in url and "$" not in url:
        return url.partition("://")[2].partition("?")[0].rstrip("/").lower()
    if not isinstance(args, Sequence) or isinstance(args, str):
        return ""
    if config.get("command") not in ("npx", "uvx", "bunx", "pnpm", "docker"):
        return ""
    named = [arg for arg in args if isinstance(arg, str) and arg not in ("run", "dlx", "exec", "mcp-remote")]
    package = next((arg for arg in named if not arg.startswith("-") and "=" not in arg), "")
    return _PINNED.sub("", package) if "/" in package or "-" in package else ""


def twins(copies: Sequence[ComponentText], alike: Mapping[tuple[str, str], float]) -> list[Edge]:
    """Return the edges between twins; `alike` maps pairs of texts to their exact Jaccard similarity."""
    by_text: dict[str, list[ComponentText]] = {}
    for copy in sorted(copies, key=lambda copy: copy.id):
        if copy.words >= _SHORT:
            by_text.setdefault(copy.text, []).append(copy)
    edges = [edge for group in by_text.values() for edge in _same(group)]
    for (low, high), jaccard in alike.items():
        edges.extend(_edited(by_text.get(low, ()), by_text.get(high, ()), jaccard))
    return bounded(edges, most=_MOST)


def bounded(edges: Sequence[Edge], *, most: int, beside: Iterable[str] = ()) -> list[Edge]:
    """Keep the strongest edges of each component, at most `most` for each, in a fixed order.

    `beside` holds the ends of existing edges, which count.
    """
    degree: dict[str, int] = {}
    for end in beside:
        degree[end] = degree.get(end, 0) + 1
    kept = []
    for edge in sorted(edges, key=lambda edge: (-edge.weight, edge.source, edge.target)):
        if degree.get(edge.source, 0) < most and degree.get(edge.target, 0) < most:
            degree[edge.source] = degree.get(edge.source, 0) + 1
            degree[edge.target] = degree.get(edge.target, 0) + 1
            kept.append(edge)
    return kept


def _same(group: Sequence[ComponentText]) -> Iterator[Edge]:
    for kind in sorted({copy.kind for copy in group}):
        copies = [copy for copy in group if copy.kind == kind]
        for at, first in enumerate(copies if len(copies) <= _CLIQUE else copies[:1]):
            for second in copies[at + 1 :]:
                same = first.content_hash == second.content_hash
                yield Edge(first.id, second.id, TWIN_OF, 1.0, _evidence(first, 1.0, same=same))


def _edited(first: Sequence[ComponentText], second: Sequence[ComponentText], jaccard: float) -> Iterator[Edge]:
    for one in first[:_CLIQUE]:
        for other in second[:_CLIQUE]:
            if one.kind == other.kind and jaccard >= _needed(one, other):
                low, high = sorted((one, other), key=lambda copy: copy.id)
                yield Edge(low.id, high.id, TWIN_OF, round(jaccard, 3), _evidence(low, jaccard))


def _needed(one: ComponentText, other: ComponentText) -> float:
    """Return the similarity that makes these two components twins; above 1 if they are never twins.

    Two with one name in one source are often intended variants, unless they are for different clients; so are
    components with different names.
    """
    never = 1.1
    if one.type == MCP_SERVER or min(one.words, other.words) < (_EDITED if one.type != PLUGIN else _SHORT):
        return never
    if one.slug == other.slug:
        if one.type == PLUGIN:
            return _LISTED
        return _BESIDE if one.source == other.source and one.client == other.client else _NAMESAKE
    if one.type == PLUGIN:
        return never
    ours, theirs = set(one.slug.split("-")), set(other.slug.split("-"))
    purpose = _shared(one.purpose, other.purpose)
    needed = _SAME_PURPOSE if ours <= theirs or theirs <= ours else _SAME_PURPOSE_OTHER_NAME
    return _RENAMED if purpose >= needed else never


def _shared(first: frozenset[str], second: frozenset[str]) -> float:
    union = len(first | second)
    return len(first & second) / union if union else 1.0


def _evidence(copy: ComponentText, jaccard: float, *, same: bool = False) -> str:
    if same:
        return SAME_CONTENT
    if copy.type == MCP_SERVER:
        return "same server, configured differently"
    # rounded up, an edited copy would be told as one that nobody edited
    return "same text, what is around it differs" if jaccard >= 1.0 else f"texts alike to {min(jaccard, 0.99):.0%}"
