"""Reads the requirements of components, and lists the dependencies of a set's members."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from repertoire.domain.answer import Dependency
from repertoire.domain.component import COMPONENT, DEPENDS_ON, MCP_SERVER, REQUIREMENT
from repertoire.retrieval.snapshot import Snapshot


def requirements(snapshot: Snapshot, position: int) -> list[str]:
    """Return a component's requirements of the machine, as `kind:name`, without required components."""
    topology = snapshot.topology
    ends = snapshot.edges(DEPENDS_ON).get(position, ())
    return [topology.names[end] for end in ends if topology.types[end] == REQUIREMENT]


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
