"""Builds a set's candidates from a ranking, with the cost, coverage, requirements and similar ones of each."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np

from repertoire.app.ask.asked_capabilities import asked_capabilities
from repertoire.app.ask.requirements import requirements
from repertoire.app.ask.version_conflicts import version_conflicts
from repertoire.domain.answer import DESCRIPTION_SPACE, Hit
from repertoire.domain.component import (
    ALTERNATIVE_TO,
    CONFLICTS_WITH,
    DEPENDS_ON,
    MCP_SERVER,
    PART_OF,
    PROVIDES,
    TWIN_OF,
    Component,
)
from repertoire.domain.text import content_words
from repertoire.installing.steps import include, read
from repertoire.ports import Summary
from repertoire.retrieval.arrays import Floats, Rows
from repertoire.retrieval.installation_units import listing_tokens
from repertoire.retrieval.pipeline import Pipeline
from repertoire.retrieval.ranking import Ranking
from repertoire.retrieval.sets.candidates import Candidate
from repertoire.retrieval.snapshot import Snapshot
from repertoire.sources.requirement_checks import RequirementCheck, RequirementChecker

_CONSIDERED = 30  # ranked candidates that may enter a set
# Equal descriptions of at least so many characters mean a copy, shorter ones may be a coincidence.
_MIN_DESCRIPTION = 40
_PART = 0.9  # similarity of a plugin and each of its parts: to choose both adds little
_LIKE, _ALIKE = 0.7, 0.5  # cosine of descriptions from which jobs are similar; job similarity at cosine 1

Check = Callable[[str], RequirementCheck]


@dataclass(frozen=True)
class RecommendationContext:
    """The context of a recommendation: muted ids, components in use, and a check of the machine (None: no check)."""

    muted: frozenset[str] = frozenset()
    using: tuple[str, ...] = ()
    check: Check | None = None

    def uses(self, key: str, name: str) -> bool:
        """Tell whether a component is in use: `using` holds ids and names."""
        return key in self.using or name in self.using

    def rows_in_use(self, snapshot: Snapshot) -> list[int]:
        """Return the rows of the components in use."""
        if not self.using:
            return []
        return [row for row, own in enumerate(snapshot.summaries) if self.uses(own.id, own.name)]


@dataclass(frozen=True)
class CandidatePool:
    """The ranked hits, the hits of components that they need, and the candidate of each hit that a set may hold."""

    ranked: tuple[Hit, ...]
    needed: Mapping[str, Hit]
    candidates: Mapping[str, Candidate]
    alternatives: Mapping[str, frozenset[str]]  # by id: ids of its stated alternatives
    parts: Mapping[str, frozenset[str]]  # by id: ids of its plugin or its parts

    def hit(self, key: str) -> Hit:
        """Return the hit of a candidate."""
        return self.needed.get(key) or next(hit for hit in self.ranked if hit.component.id == key)

    def allowed(self) -> list[Candidate]:
        """Return the candidates of ranked hits, best first."""
        ids = (hit.component.id for hit in self.ranked)
        return [self.candidates[key] for key in ids if key in self.candidates]

    def others(self) -> list[Candidate]:
        """Return the candidates that are only there because ranked components need them."""
        return [candidate for key, candidate in self.candidates.items() if key in self.needed]


def machine_check(
    summaries: Iterable[Summary], environment: Mapping[str, str], project: str, refused: frozenset[str] = frozenset()
) -> Check:
    """Return a function that checks a requirement against the machine, the project and installed MCP servers.

    Those with `refused` ids do not run, because of settings.
    """
    servers = [summary for summary in summaries if summary.installed and summary.type == MCP_SERVER]
    return RequirementChecker(
        environment,
        project=Path(project) if project else None,
        servers=[one.name for one in servers if one.id not in refused],
        refused=[one.name for one in servers if one.id in refused],
    ).check


def candidate_pool(
    pipeline: Pipeline, ranking: Ranking, context: RecommendationContext, *, parts: Sequence[Mapping[int, float]] = ()
) -> CandidatePool:
    """Build the candidates of a ranking and of the components that these need.

    `parts` has for each open clause of the task the rows that help with it, which need not be at the head, with the
    chance of that.
    """
    snapshot = ranking.snapshot
    first = ranking.answering[:_CONSIDERED].tolist()
    head = np.array([*first, *sorted(set().union(*parts).difference(first))], dtype=np.int64)
    needs = _Needs(ranking, head, context.check)
    rows = np.concatenate([head, needs.beyond(head)]).tolist()
    hits = {hit.component.id: hit for hit in pipeline.hits(ranking, np.array(rows, dtype=np.int64))}
    row_of = {key: row for row in rows if (key := snapshot.summaries[row].id) in hits}
    disputes = version_conflicts(snapshot, [*dict.fromkeys((*rows, *context.rows_in_use(snapshot)))])
    builder = _CandidateBuilder(ranking, context, hits, needs, _job_similarity(snapshot, head), disputes)
    candidates = {key: builder.candidate_of(row, hits[key], parts) for key, row in row_of.items()}
    in_head = frozenset(head.tolist())
    needed = {key: hits[key] for key, row in row_of.items() if row not in in_head}
    source = {key: snapshot.summaries[row_of[key]].source for key in needed}
    silenced = {key for key, hit in needed.items() if context.muted & {key, source[key], hit.component.repository}}
    return CandidatePool(
        ranked=tuple(hits[key] for key, row in row_of.items() if row in in_head),
        needed=needed,
        candidates={
            key: one for key, one in candidates.items() if key not in silenced and not silenced.intersection(one.needs)
        },
        alternatives={key: builder.keys(builder.alternatives, row) for key, row in row_of.items()},
        parts={key: builder.keys(builder.parts, row) for key, row in row_of.items()},
    )


def twin_marks(component: Component) -> frozenset[str]:
    """Return the keys that copies of a component share: its type and name, and its type and long description."""
    described = " ".join(component.description.lower().split())
    same_words = {f"{component.type}={described}"} if len(described) >= _MIN_DESCRIPTION else set()
    return frozenset({f"{component.type} {component.name.lower()}", *same_words})


class _Needs:
    """Finds the needs of components in one ranking: other components, and unmet requirements of the machine."""

    def __init__(self, ranking: Ranking, head: Rows, check: Check | None) -> None:
        self._snapshot, self._shown = ranking.snapshot, ranking.shown
        self._head = head
        self._check = check
        self._known: dict[int, tuple[tuple[int, ...], tuple[str, ...]]] = {}

    def of(self, position: int) -> tuple[tuple[int, ...], tuple[str, ...]]:
        """Return the rows of needed components, and the texts of requirements that this machine does not meet.

        A missing MCP server counts as a needed component if one of that name is at the head. Any other is told as a
        requirement: components list servers that they can do without, and of several with one name any may be meant.
        """
        if position not in self._known:
            snapshot = self._snapshot
            ends = snapshot.edges(DEPENDS_ON).get(position, ())
            found = [int(self._shown[snapshot.row_at[end]]) for end in ends if snapshot.row_at[end] >= 0]
            servers = {row: snapshot.summaries[row] for row in found if snapshot.summaries[row].type == MCP_SERVER}
            rows = [row for row in found if row not in servers or row in self._head]
            asked = [f"{MCP_SERVER}:{server.name}" for row, server in servers.items() if row not in rows]
            lacking: list[str] = []
            for condition in self._conditions([*asked, *requirements(snapshot, position)]):
                kind, _, name = condition.requirement.partition(":")
                if kind == MCP_SERVER and name.lower() in self._servers:
                    rows.append(self._servers[name.lower()])
                else:
                    lacking.append(condition.text)
            own = int(snapshot.row_at[position])
            self._known[position] = tuple(row for row in dict.fromkeys(rows) if row != own), tuple(lacking)
        return self._known[position]

    def beyond(self, head: Rows) -> Rows:
        """Return the rows that the head needs directly or transitively, without the head itself."""
        waiting = head.tolist()
        seen = set(waiting)
        found = []
        while waiting:
            for row in self.of(int(self._snapshot.positions[waiting.pop()]))[0]:
                if row not in seen:
                    seen.add(row)
                    waiting.append(row)
                    found.append(row)
        return np.array(sorted(found), dtype=np.int64)

    def _conditions(self, wanted: Iterable[str]) -> list[RequirementCheck]:
        """Return the checks of those requirements that are not met."""
        if self._check is None:
            return []
        return [condition for condition in map(self._check, wanted) if condition.met is False]

    @cached_property
    def _servers(self) -> dict[str, int]:
        """Map each name of an MCP server at the head to the row of the best one."""
        named = [(self._snapshot.summaries[row], row) for row in reversed(self._head.tolist())]
        return {summary.name.lower(): row for summary, row in named if summary.type == MCP_SERVER}


def _job_similarity(snapshot: Snapshot, head: Rows) -> dict[int, dict[str, float]]:
    """Map each row of the head to the ids of others there with a similar job, and how similar (0 to _ALIKE)."""
    space = snapshot.spaces.get(DESCRIPTION_SPACE)
    if space is None or not len(space.rows) or not len(head):
        return {}
    order = np.argsort(space.rows)
    at = np.minimum(np.searchsorted(space.rows, head, sorter=order), len(order) - 1)
    known = space.rows[order[at]] == head
    rows, vectors = head[known], space.vectors[order[at[known]]]
    near: Floats = np.einsum("id,jd->ij", vectors, vectors).astype(np.float64)
    same = _ALIKE * np.clip((near - _LIKE) / (1.0 - _LIKE), 0.0, 1.0)
    np.fill_diagonal(same, 0.0)
    ids = [snapshot.summaries[row].id for row in rows.tolist()]
    return {
        int(row): {ids[other]: float(values[other]) for other in np.flatnonzero(values).tolist()}
        for row, values in zip(rows.tolist(), same, strict=True)
    }


class _CandidateBuilder:
    """Builds the candidates of one ranking."""

    def __init__(
        self,
        ranking: Ranking,
        context: RecommendationContext,
        hits: Mapping[str, Hit],
        needs: _Needs,
        alike: Mapping[int, Mapping[str, float]],
        version_conflicts: Mapping[int, Mapping[str, str]],
    ) -> None:
        self._ranking, self._snapshot, self._plan = ranking, ranking.snapshot, ranking.plan
        self._context = context
        self._hits = hits
        self._needs = needs
        self._job_similarity = alike
        self._version_conflicts = version_conflicts
        self._asked = asked_capabilities(ranking)
        self._conflicts, self._twins, self.parts, self.alternatives = (
            _both_ways(self._snapshot, relation) for relation in (CONFLICTS_WITH, TWIN_OF, PART_OF, ALTERNATIVE_TO)
        )

    def candidate_of(self, row: int, hit: Hit, parts: Sequence[Mapping[int, float]]) -> Candidate:
        """Return what the search for a set needs to know of the component in a row of the snapshot."""
        snapshot, component = self._snapshot, hit.component
        position = int(snapshot.positions[row])
        provided = _provided(snapshot, position)
        asked = frozenset(provided).intersection(self._asked)
        lacking = self._needs.of(position)[1]
        words = set(content_words(f"{component.name} {component.described}"))
        twins = self.keys(self._twins, row)
        serves, helps = self._ranking.chances(row)
        # Grades know nothing of what was used here: what failed for such requests would lead a set for being installed.
        accepted = self._ranking.past.acceptance(row)
        return Candidate(
            key=component.id,
            name=component.name,
            score=hit.score,
            tokens=listing_tokens(component),
            twins=twin_marks(component) | {" and ".join(sorted((component.id, twin))) for twin in twins},
            installed=component.installed,
            own=bool(snapshot.own[row]),
            covers=frozenset(words.intersection(self._plan.words)),
            capabilities=asked,
            surely={name: provided[name] for name in asked},
            needs=self._needed_beside(position, component),
            conflicts=self.keys(self._conflicts, row),
            version_conflicts=self._version_conflicts.get(row, {}),
            lacking=(*lacking, *self._conflicts_in_use(row, component)),
            alike={**self._job_similarity.get(row, {}), **dict.fromkeys(self.keys(self.parts, row), _PART)},
            bundle=component.plugin or component.repository,
            unit=hit.unit.name if hit.unit else "",
            unit_tokens=hit.unit.tokens if hit.unit else 0,
            stale=hit.aged,
            demoted=hit.demoted,
            serves=serves * accepted,
            helps=helps * accepted,
            helps_parts={clause: part[row] for clause, part in enumerate(parts) if row in part},
            past=self._ranking.past.of(row),
            refused=self._ranking.past.refused(row),
        )

    def _needed_beside(self, position: int, component: Component) -> tuple[str, ...]:
        """Return the ids of needed components that do not come along when the component is installed."""
        if not self._needs.of(position)[0]:
            return ()  # as of most: their install lines need not be parsed
        snapshot, steps = self._snapshot, read(component.install)
        found = []
        seen, waiting = {position}, [position]
        while waiting:
            for row in self._needs.of(waiting.pop())[0]:
                key, there = snapshot.summaries[row].id, int(snapshot.positions[row])
                if there in seen:
                    continue
                seen.add(there)
                if key in self._hits and include(steps, read(self._hits[key].component.install)):
                    waiting.append(there)  # it comes along, but what it needs may not
                else:
                    found.append(key)
        return tuple(found)

    def keys(self, edges: Mapping[int, frozenset[int]], row: int) -> frozenset[str]:
        """Return the ids of the neighbours of a row."""
        ends = edges.get(int(self._snapshot.positions[row]), frozenset())
        return frozenset(self._snapshot.topology.keys[end] for end in ends)

    def _conflicts_in_use(self, row: int, component: Component) -> list[str]:
        """Return a lack for each component in use that conflicts with this one; its own copies do not count."""
        snapshot = self._snapshot
        found = []
        for end in sorted(self._conflicts.get(int(snapshot.positions[row]), ())):
            other = snapshot.row_at[end]
            summary = snapshot.summaries[other] if other >= 0 else None
            if summary is None or (summary.type, summary.name.lower()) == (component.type, component.name.lower()):
                continue
            if not component.installed and (summary.installed or self._context.uses(summary.id, summary.name)):
                found.append(f"{summary.name} out of use: the two conflict")
        for key, said in self._version_conflicts.get(row, {}).items():
            summary = snapshot.summaries[snapshot.row_of(key)]
            if self._context.uses(key, summary.name):
                found.append(f"{summary.name} out of use: {said}")
        return found


def _provided(snapshot: Snapshot, position: int) -> dict[str, float]:
    """Map each capability of a component to the highest confidence of its edges."""
    topology = snapshot.topology
    first, last = np.searchsorted(topology.source, (position, position + 1)).tolist()
    found: dict[str, float] = {}
    for edge in range(first, last):
        if topology.relation[edge] == PROVIDES:
            name = topology.names[topology.target[edge]]
            found[name] = max(found.get(name, 0.0), min(float(topology.weight[edge]), 1.0))
    return found


def _both_ways(snapshot: Snapshot, relation: str) -> dict[int, frozenset[int]]:
    found: dict[int, set[int]] = {}
    for source, ends in snapshot.edges(relation).items():
        for end in ends:
            found.setdefault(source, set()).add(end)
            found.setdefault(end, set()).add(source)
    return {position: frozenset(ends) for position, ends in found.items()}


def names_of(candidates: Iterable[Candidate]) -> str:
    """Return the names of candidates, joined by "and"."""
    return " and ".join(candidate.name for candidate in candidates)
