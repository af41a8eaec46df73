"""Answers "what goes together?": finds known combinations for a topic and companions of components in use."""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np

from repertoire.domain.answer import Combination, Other
from repertoire.domain.component import COMPONENT_TYPES, PART_OF, Component
from repertoire.domain.text import clean_line
from repertoire.retrieval.arrays import Mask
from repertoire.retrieval.filters import allowed_rows
from repertoire.retrieval.patterns import KnownPattern
from repertoire.retrieval.pipeline import Pipeline
from repertoire.retrieval.ranking import Ranking
from repertoire.retrieval.snapshot import Snapshot

MOST, _OF_CAPABILITIES = 5, 3  # an answer names so many combinations, of which so many share the task's capabilities
_MEMBERS, _SEEN = 4, 3  # a combination names so many members, and so many of the places where it was seen
_COMPANIONS, _TOGETHER = 5, 0.3  # an answer names so many companions, of at least this strength
_LOOKED_AT, _NAMED = 60, 80  # companions that are considered; characters of a name that a note repeats
_READ = "`repertoire ingest` reads more sources"
_SEEN_IN = "they are seen in plugins, agents and projects that were read"
_TYPE = re.compile(rf"[ -](?:{'|'.join(kind.replace('_', '[ _]') for kind in COMPONENT_TYPES)})s?", re.IGNORECASE)


def called(pipeline: Pipeline, snapshot: Snapshot, name: str) -> list[int]:
    """Return the rows of the components with an id or name, with or without its type's word; none for a mere topic."""
    patterns = pipeline.combinations(snapshot)
    return patterns.rows_called(name) or patterns.rows_called(_TYPE.sub("", name))


def unknown_name_notes(ranking: Ranking, names: Sequence[str]) -> tuple[str, ...]:
    """Return a note for each id or name in use that belongs to no component."""
    columns = [ranking.snapshot.column(field) for field in ("id", "name")] if len(ranking.snapshot) else []
    unknown = (name for name in names if not any((column == name).any() for column in columns))
    return tuple(
        f"no component is called {clean_line(name, _NAMED)!r}: what goes with it is not known" for name in unknown
    )


def missing_data_notes(ranking: Ranking, topic: str, known: Sequence[Combination]) -> tuple[str, ...]:
    """Return notes for parts of a question without any data: a filter that nothing passes, a topic not combined."""
    types = sorted(set(ranking.plan.query.types) - set(ranking.snapshot.column("type").tolist()))
    none = [f"no {kind.replace('_', ' ')} is known here: {_READ}" for kind in types]
    installed = ranking.plan.query.installed
    if (
        installed is not None
        and len(ranking.snapshot)
        and not (ranking.snapshot.column("installed") == installed).any()
    ):
        none.append(f"{'nothing' if installed else 'everything'} known here is installed: ask without that filter")
    if topic and not known:
        none.append(f"no combination is known for {clean_line(topic, _NAMED)!r}: {_SEEN_IN}; {_READ}")
    return tuple(none)


def companions(
    pipeline: Pipeline, ranking: Ranking, names: Sequence[str], *, muted: frozenset[str]
) -> tuple[Other, ...]:
    """Return the components that known combinations hold beside the named ones, strongest association first."""
    snapshot = ranking.snapshot
    patterns = pipeline.combinations(snapshot)
    rows = [row for name in names for row in called(pipeline, snapshot, name)]
    own = {snapshot.summaries[row].name.lower() for row in rows}
    close = [
        one
        for one in patterns.companions(rows, among=_open(ranking, muted), limit=_LOOKED_AT)
        if one.strength >= _TOGETHER and snapshot.summaries[one.row].name.lower() not in own  # a copy is no companion
    ]
    close.sort(key=lambda one: (-one.strength, -one.known.support, len(one.known.members)))  # small sets tell more
    components = _components(ranking, [one.row for one in close])
    told: dict[str, Other] = {}
    for one in close:
        if one.row in components:
            seen = f"; seen in {', '.join(one.known.seen[:_SEEN])}" if one.known.lift and one.known.seen else ""
            other = Other(components[one.row], patterns.sentence(one.known, one.beside) + seen)
            told.setdefault(other.component.name.lower(), other)
    return tuple(told.values())[:_COMPANIONS]


def combinations(pipeline: Pipeline, ranking: Ranking, topic: str, *, muted: frozenset[str]) -> tuple[Combination, ...]:
    """Return the known combinations that match a topic; for a component's name, its own and those that hold it."""
    patterns = pipeline.combinations(ranking.snapshot)
    rows = called(pipeline, ranking.snapshot, topic)
    own = patterns.of_whole(topic) or patterns.of_whole(_TYPE.sub("", topic))
    if rows or own:
        found = [*own, *(known for known in patterns.holding(rows, limit=MOST) if known not in own)]
    else:
        found = patterns.of_capabilities(ranking.plan.capabilities, limit=_OF_CAPABILITIES)
        if ranking.fits:  # they match best what ranks first, however little that has to do with the topic
            found += ranking.matched.first
    mask = _open(ranking, muted)
    return tuple(_combination(ranking, known, mask) for known in found[:MOST])


def _combination(ranking: Ranking, known: KnownPattern, mask: Mask) -> Combination:
    likely = ranking.matched.likely
    rows, seen = [row for row in known.members if mask[row]], known.seen
    if known.wholes:
        rows, where = _providing(ranking, known, mask)
        seen = tuple(sorted(known.seen, key=where.__ne__))
    elif len(likely):
        rows.sort(key=lambda row: -likely[row])
    components = _components(ranking, rows[:_MEMBERS])
    members = tuple(components[row] for row in rows[:_MEMBERS] if row in components)
    return Combination(
        known.name,
        known.origin,
        members,
        max(len(known.members) - len(members), 0),
        known.capabilities,
        known.support,
        known.lift,
        seen[:_SEEN],
    )


def _providing(ranking: Ranking, known: KnownPattern, mask: Mask) -> tuple[list[int], str]:
    """Return rows that provide a combination's capabilities within one plugin or project, and the name of that whole.

    Of several wholes, choose the one whose components rank best.
    """
    place = {row: rank for rank, row in enumerate(ranking.answering.tolist())}
    provided = {term: ranking.snapshot.provided((term,)) for term in known.capabilities}
    found = []
    for key, name in zip(known.wholes, known.seen, strict=False):
        inside = [row for row in _inside(ranking.snapshot, key) if mask[row]]
        inside.sort(key=lambda row: (place.get(row, len(mask)), row))
        by = [next((row for row in inside if provided[term][row]), -1) for term in known.capabilities]
        if min(by) >= 0:
            found.append((sum(place.get(row, len(mask)) for row in by), list(dict.fromkeys(by)), name))
    _, rows, name = min(found, default=(0, [], ""))
    return rows, name


def _inside(snapshot: Snapshot, whole: str) -> list[int]:
    """Return the rows of a plugin's parts, or of a source's components where the whole is no plugin."""
    topology, at = snapshot.topology, snapshot.position_of.get(whole)
    if at is None:
        return np.flatnonzero(snapshot.column("source") == whole).tolist()
    ends = topology.source[snapshot.related(PART_OF) & (topology.target == at)]
    return [int(row) for row in snapshot.row_at[ends] if row >= 0]


def _open(ranking: Ranking, muted: frozenset[str]) -> Mask:
    """Return the mask of the rows that an answer may name: allowed by the query, not muted."""
    return allowed_rows(ranking.snapshot, ranking.plan.query, muted)


def _components(ranking: Ranking, rows: Sequence[int]) -> dict[int, Component]:
    return {row: entry.component for row, entry in ranking.reader.at(np.array(rows, dtype=np.int64))}
