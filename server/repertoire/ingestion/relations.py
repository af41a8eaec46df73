"""Finds the edges within one source: parts of plugins, siblings, mentions, and dependencies by name."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from repertoire.domain.component import (
    CO_OCCURS_WITH,
    COMMAND,
    DEPENDS_ON,
    MCP_SERVER,
    MENTIONS,
    ONE_PLUGIN,
    PART_OF,
    PLUGIN,
    SKILL,
    Edge,
)
from repertoire.domain.text import clean_line
from repertoire.ingestion import values
from repertoire.ingestion.parts import OPTIONAL_SERVER, ComponentRequirement, folder

# Words that may be names: with a hyphen or a colon, or after a slash. Other words may match a name by chance.
# A path is none (`2>/dev/null`, `<slug>/memory/`), nor is a route in quotes (`"/profile"`, but `"/plugin:name"`).
_NAMED = re.compile(
    r"(?<![\w./-])(?:(?<![}>\]])(?:(?<![\"'])|(?=/[\w-]+:))/\w+(?:[:.-]\w+)*(?![:.-]?[\w/{*\[])"
    r"|\w+(?:\.\w+)*[:-]\w+(?:[:.-]\w+)*)",
    re.ASCII,
)
_OWNERS = ("project", "user")  # what stands before a name beside the names of plugins: `project:release`
_SCANNED = 40_000  # characters of a body that are searched for names
# kinds of requirements that a component of the source may meet, and the types of that one (empty: any)
_INSIDE = {"plugin": (PLUGIN,), MCP_SERVER: (MCP_SERVER,), OPTIONAL_SERVER: (MCP_SERVER,), "component": ()}
_MENTIONS = 12
_SIBLINGS = 8
_LARGE_GROUP = 400
_COMPARED_WITH_ALL = 40  # members of a plugin above which siblings must share a capability


@dataclass(frozen=True)
class SourceMember:
    """A component of a source, with the fields from which its relations are found."""

    id: str
    type: str
    name: str
    path: str
    plugin_root: str | None  # None: it is in no plugin, or in one only as a part of another component
    words: tuple[str, ...]  # words of its body that may be names, the first ones first
    needs: tuple[ComponentRequirement, ...] = ()
    capabilities: Mapping[str, float] = field(default_factory=dict)
    part_of: str = ""  # the path of a file whose first component this one is a part of
    known: bool = True  # whether texts may mean it by its name; not a tool inside a server, nor a pointer


def mentioned_words(body: str) -> tuple[str, ...]:
    """Return the words of a body that may be names of components, each once, in their order."""
    return tuple(dict.fromkeys(_NAMED.findall(body[:_SCANNED].lower())))


def derive(members: Sequence[SourceMember], plugin_ids: Mapping[str, str]) -> list[Edge]:
    """Return the edges between the components of one source; `plugin_ids` by the plugins' folders."""
    names = _Names(members)
    edges: dict[tuple[str, str, str], Edge] = {}
    for edge in (
        *_parts(members, plugin_ids),
        *_dependencies(members, names),
        *_mentions(members, names),
        *_siblings(members),
    ):
        key = (edge.source, edge.target, edge.relation)
        if edge.source != edge.target and (key not in edges or edges[key].weight < edge.weight):
            edges[key] = edge
    return list(edges.values())


def outside(component_id: str, needs: Iterable[ComponentRequirement]) -> Iterator[Edge]:
    """Yield the edges from a component to its requirements outside the graph, each once."""
    seen = set()
    for need in needs:
        if need.kind in _INSIDE or (need.kind, need.name) in seen:
            continue
        seen.add((need.kind, need.name))
        target = f"requirement:{need.kind}:{clean_line(values.storable(need.name), values.NAME_LIMIT)}"
        yield Edge(component_id, target, DEPENDS_ON, need.weight, need.evidence)


class _Names:
    """The components of a source by name; of several with one name, the nearest is found."""

    def __init__(self, members: Sequence[SourceMember]) -> None:
        self._by_name: dict[str, dict[str, SourceMember]] = {}
        self._indexed: dict[tuple[str, tuple[str, ...]], _Namesakes] = {}
        for member in members:
            if member.known:
                self._by_name.setdefault(member.name.lower(), {}).setdefault(member.id, member)

    def find(self, name: str, seeker: SourceMember, types: tuple[str, ...] = ()) -> SourceMember | None:
        """Return the component of this name that is nearest to the seeker; None if there is none."""
        named = self._by_name.get(name.lower())
        if named is None:
            return None
        key = (name.lower(), types)
        if key not in self._indexed:
            self._indexed[key] = _Namesakes([member for member in named.values() if not types or member.type in types])
        return self._indexed[key].nearest(seeker)


class _Namesakes:
    """Components with one name, by plugin and by folder: each word of a text may ask for all namesakes of a source."""

    def __init__(self, members: Sequence[SourceMember]) -> None:
        self._all = sorted(members, key=lambda member: (member.type != SKILL, member.id))
        self._by_plugin: dict[str | None, list[SourceMember]] = {}
        self._by_folder: dict[str, list[SourceMember]] = {}
        for member in self._all:
            self._by_plugin.setdefault(member.plugin_root, []).append(member)
            self._by_folder.setdefault(folder(folder(member.path)), []).append(member)

    def nearest(self, seeker: SourceMember) -> SourceMember | None:
        """Return the only one, else the first of the seeker's plugin, else of its folder; None if there is none."""
        found = _others(self._all, seeker)
        if len(found) > 1:
            found = _others(self._by_plugin.get(seeker.plugin_root, ()), seeker)
            found = found or _others(self._by_folder.get(folder(folder(seeker.path)), ()), seeker)
        return found[0] if found else None


def _others(members: Sequence[SourceMember], seeker: SourceMember) -> list[SourceMember]:
    """Return the first two that are not the seeker."""
    return [member for member in members[:3] if member.id != seeker.id][:2]


def _parts(members: Sequence[SourceMember], plugin_ids: Mapping[str, str]) -> Iterator[Edge]:
    first: dict[str, SourceMember] = {}
    for member in members:
        first.setdefault(member.path, member)
    for member in members:
        if member.part_of in first:
            yield Edge(member.id, first[member.part_of].id, PART_OF, 1.0, member.path)
        target = plugin_ids.get(member.plugin_root) if member.plugin_root is not None else None
        if target and member.type != PLUGIN:
            yield Edge(member.id, target, PART_OF, 1.0, member.path)


def _dependencies(members: Sequence[SourceMember], names: _Names) -> Iterator[Edge]:
    for member in members:
        for need in member.needs:
            if need.kind in _INSIDE:
                found = names.find(need.name, member, _INSIDE[need.kind])
                kind = "component" if need.kind == "plugin" else need.kind
                target = found.id if found else f"requirement:{kind}:{need.name}"
                yield Edge(member.id, target, DEPENDS_ON, need.weight, need.evidence)


def _mentions(members: Sequence[SourceMember], names: _Names) -> Iterator[Edge]:
    owners = frozenset((*_OWNERS, *(member.name.lower() for member in members if member.type == PLUGIN)))
    for member in members:
        found: dict[str, tuple[SourceMember, str]] = {}
        meant: dict[tuple[str, tuple[str, ...]], str] = {}
        for word in member.words:
            meant.setdefault(_meant(word, owners), word)
        for (name, types), word in meant.items():
            target = names.find(name, member, types)
            if target is not None:
                found.setdefault(target.id, (target, word))
        for target, word in list(found.values())[:_MENTIONS]:
            yield Edge(member.id, target.id, MENTIONS, 0.5, f"names {word} in {member.path}")


def _meant(word: str, owners: frozenset[str]) -> tuple[str, tuple[str, ...]]:
    """Return the name of the component that a word may mean, and its possible types; none: any.

    After a colon, a name without a hyphen counts only behind one of `owners`: `filetype:pdf` and `test:performance`
    name nothing.
    """
    owner, _, name = word.rpartition(":")
    if word.startswith("/"):
        return name.removeprefix("/"), (COMMAND, SKILL)
    return ("" if owner and "-" not in name and owner not in owners else name), ()


def _siblings(members: Sequence[SourceMember]) -> Iterator[Edge]:
    groups: dict[str, list[SourceMember]] = {}
    for member in members:
        if member.plugin_root is not None and member.type != PLUGIN:
            groups.setdefault(member.plugin_root, []).append(member)
    for group in groups.values():
        if 2 <= len(group) <= _LARGE_GROUP:
            yield from _strongest(group)


def _strongest(group: Sequence[SourceMember]) -> Iterator[Edge]:
    """Yield the strongest edges between siblings, at most a few for each component."""
    base = 1.0 / (len(group) - 1) if len(group) <= _COMPARED_WITH_ALL else 0.0
    pairs = []
    for index, first in enumerate(group):
        for second in group[index + 1 :]:
            shared = sum(min(weight, second.capabilities.get(term, 0.0)) for term, weight in first.capabilities.items())
            weight = min(1.0, base + 0.15 * shared) if base else min(0.5, 0.1 * shared)
            if weight >= 0.05:
                pairs.append((-round(weight, 3), first.id, second.id))
    degree: dict[str, int] = {}
    for weight, first_id, second_id in sorted(pairs):
        if degree.get(first_id, 0) < _SIBLINGS and degree.get(second_id, 0) < _SIBLINGS:
            degree[first_id] = degree.get(first_id, 0) + 1
            degree[second_id] = degree.get(second_id, 0) + 1
            low, high = sorted((first_id, second_id))
            yield Edge(low, high, CO_OCCURS_WITH, -weight, ONE_PLUGIN)
