"""Reads the requirements of components, decides which versions of packages conflict, and lists a set's dependencies."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from itertools import combinations

from packaging.utils import canonicalize_name

from repertoire.domain.answer import Dependency
from repertoire.domain.component import COMPONENT, DEPENDS_ON, HOOK, MCP_SERVER, REQUIREMENT
from repertoire.retrieval.snapshot import Snapshot

_SHARED = ("package", "runtime")  # kinds of requirements that a project can have in one version only
_FETCHED = (MCP_SERVER, HOOK)  # types whose packages are isolated: a runner (npx, uvx) fetches them for one process
_RANGED = re.compile(r"^(@?[^@<>=!~^\s]+)(.*)$")


def requirements(snapshot: Snapshot, position: int) -> list[str]:
    """Return a component's requirements of the machine, as `kind:name`, without required components."""
    topology = snapshot.topology
    ends = snapshot.edges(DEPENDS_ON).get(position, ())
    return [topology.names[end] for end in ends if topology.types[end] == REQUIREMENT]


def wanted(snapshot: Snapshot, row: int) -> dict[tuple[str, str], str]:
    """Map each package or runtime that a component shares with others to the version range that it requires."""
    found = {}
    for requirement in requirements(snapshot, int(snapshot.positions[row])):
        kind, _, name = requirement.partition(":")
        split = _RANGED.match(name)
        alone = kind == "package" and snapshot.summaries[row].type in _FETCHED
        if kind in _SHARED and split and split.group(2) and not alone:
            found[kind, str(canonicalize_name(split.group(1)))] = split.group(2)
    return found


def disputes(snapshot: Snapshot, rows: Sequence[int]) -> dict[int, dict[str, str]]:
    """Map each row to the ids of components with a version conflict, each with the text of the conflict."""
    wants = {row: own for row in rows if (own := wanted(snapshot, row))}
    found: dict[int, dict[str, str]] = {}
    if len(wants) < 2:
        return found
    from repertoire.ingestion.ranges import disjoint  # noqa: PLC0415 - few sets have two versions, and it takes 20 ms

    for (one, ours), (other, theirs) in combinations(wants.items(), 2):
        for kind, name in ours.keys() & theirs.keys():
            if disjoint(ours[kind, name], theirs[kind, name]):
                for row, against in ((one, other), (other, one)):
                    said = f"{name} {wants[row][kind, name]} against {wants[against][kind, name]}"
                    found.setdefault(row, {})[snapshot.summaries[against].id] = said
    return found


def dependencies(snapshot: Snapshot, needs: Mapping[str, Sequence[str]]) -> tuple[Dependency, ...]:
    """Return the dependencies among a set's members, from `needs` by id, and each member's needs of the machine."""
    found = []
    for member, others in needs.items():
        found += [Dependency(member, other, COMPONENT) for other in others]
        met = {snapshot.summaries[snapshot.row_of(other)].name.lower() for other in others}
        for requirement in requirements(snapshot, snapshot.position_of[member]):
            kind, _, name = requirement.partition(":")
            if kind != MCP_SERVER or name.lower() not in met:
                found.append(Dependency(member, name, kind))
    return tuple(dict.fromkeys(found))
