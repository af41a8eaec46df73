"""Mines known combinations: gathers components of each plugin, agent, project and request; writes recurring sets."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain

from repertoire.app.clock import now
from repertoire.domain.component import (
    AGENT,
    CAPABILITY,
    COMPONENT,
    DEPENDS_ON,
    PART_OF,
    PLUGIN,
    PROVIDES,
    REQUEST,
    SELECTED,
    SKILL,
)
from repertoire.ingestion.patterns import (
    AGENT_SET,
    PLUGIN_SET,
    PROJECT_SET,
    REQUESTS,
    Pattern,
    PatternMember,
    Transaction,
    patterns,
    used_patterns,
)
from repertoire.ports import Summary, Topology
from repertoire.store.database import Store

LABEL, USED_LABEL = "patterns", "learned patterns"  # labels that begin with `learned` are deleted with the requests
_OWN = ("project", "user")  # kinds of sources whose components a person chose for work


def renew_patterns(store: Store) -> int:
    """Mine the known combinations again and replace the graph's patterns; return how many there are."""
    topology, summaries = store.graph.topology(), store.graph.summaries()
    whole = _WholeGraph(topology, summaries)
    known = whole.known()
    found = patterns(_of_known([*whole.plugins(), *whole.agents(), *_projects(summaries)], known), known)
    used = used_patterns(_of_known(whole.requests(), known), known)
    _write(store, found, LABEL)
    _write(store, used, USED_LABEL)
    return len(found) + len(used)


def _of_known(transactions: Iterable[Transaction], known: Mapping[str, PatternMember]) -> list[Transaction]:
    # Another process may add components between the reads of topology and summaries.
    return [replace(one, members=one.members.intersection(known)) for one in transactions]


def _write(store: Store, found: Sequence[Pattern], label: str) -> None:
    at = now()
    with store.transaction():  # the next write would delete a pattern node without edges
        for pattern in found:
            store.sources.add_node(pattern.node(), now=at)
        store.sources.set_edges(list(chain.from_iterable(one.edges() for one in found)), now=at, file=label)


@dataclass(frozen=True)
class _WholeGraph:
    """The topology and component summaries of the whole graph, read once."""

    topology: Topology
    summaries: Sequence[Summary]

    def known(self) -> dict[str, PatternMember]:
        """Map each component's id to its name and capabilities."""
        provided: dict[str, dict[str, float]] = {}
        for source, target, weight in self._edges(PROVIDES, COMPONENT, CAPABILITY):
            term = self.topology.names[target]
            provided.setdefault(self.topology.keys[source], {})[term] = weight
        return {summary.id: PatternMember(summary.name, provided.get(summary.id, {})) for summary in self.summaries}

    def plugins(self) -> Iterator[Transaction]:
        """Yield the components of each plugin as one transaction."""
        types, names = self._of("type"), self._of("name")
        carried: dict[str, set[str]] = {}
        for source, target, _ in self._edges(PART_OF, COMPONENT, COMPONENT):
            plugin, member = self.topology.keys[target], self.topology.keys[source]
            if types.get(plugin) == PLUGIN and types.get(member) not in (None, PLUGIN):
                carried.setdefault(plugin, set()).add(member)
        for plugin, members in carried.items():
            yield Transaction(PLUGIN_SET, plugin, names[plugin], frozenset(members))

    def agents(self) -> Iterator[Transaction]:
        """Yield each agent with its declared skills as one transaction."""
        types, names = self._of("type"), self._of("name")
        declared: dict[str, set[str]] = {}
        for source, target, _ in self._edges(DEPENDS_ON, COMPONENT, COMPONENT):
            agent, skill = self.topology.keys[source], self.topology.keys[target]
            if (types.get(agent), types.get(skill)) == (AGENT, SKILL):
                declared.setdefault(agent, {agent}).add(skill)
        for agent, members in declared.items():
            yield Transaction(AGENT_SET, agent, names[agent], frozenset(members))

    def requests(self) -> Iterator[Transaction]:
        """Yield the selected components of each past request as one transaction."""
        selected: dict[str, set[str]] = {}
        for source, target, _ in self._edges(SELECTED, REQUEST, COMPONENT):
            selected.setdefault(self.topology.keys[source], set()).add(self.topology.keys[target])
        for request, members in selected.items():
            yield Transaction(REQUESTS, request, "", frozenset(members))

    def _of(self, field: str) -> dict[str, str]:
        return {summary.id: str(getattr(summary, field)) for summary in self.summaries}

    def _edges(self, relation: str, source_type: str, target_type: str) -> Iterator[tuple[int, int, float]]:
        topology = self.topology
        for source, target, weight, name in zip(
            topology.source.tolist(), topology.target.tolist(), topology.weight.tolist(), topology.relation, strict=True
        ):
            if name == relation and topology.types[source] == source_type and topology.types[target] == target_type:
                yield source, target, weight


def _projects(summaries: Sequence[Summary]) -> Iterator[Transaction]:
    """Yield the components that a person chose for each project, or for all projects, as one transaction."""
    own: dict[str, set[str]] = {}
    for summary in summaries:
        kind, _, _ = summary.source.partition(":")
        if kind in _OWN and summary.type != PLUGIN:
            own.setdefault(summary.source, set()).add(summary.id)
    for source, members in own.items():
        name = source.rstrip("/").rpartition("/")[2] if source.startswith("project:") else "your own"
        yield Transaction(PROJECT_SET, source, name, frozenset(members))
