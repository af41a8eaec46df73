"""Puts the newest of the entries that say the same, or the contrary, before the older ones, and says so."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from repertoire.app.clock import today
from repertoire.domain.pack import CHUNK_SPACE, HEADING_SPACE
from repertoire.domain.project import NOTE, SUPERSEDED, SUPERSEDES, Entry, EntryLink, Item
from repertoire.projects.freshness import unconfirmed_days, uses_of
from repertoire.retrieval.arrays import Floats
from repertoire.retrieval.project import ProjectIndex
from repertoire.store.project_entries import ProjectEntries, item_of

# Cosine, of titles and of texts, from which on two notes are about the same: Memory Fabric's bound for one memory
# told twice.
_SAME = 0.85
_USED, _MOST = 0.05, 1.25  # what use adds: it decides among procedures that fit about as well, and outweighs no fit
_REPLACED = 0.5  # share of its score that is left to an entry which another one supersedes


def newest_first(entries: ProjectEntries, scores: Mapping[int, float], index: ProjectIndex) -> list[tuple[Item, float]]:
    """Return entries with their scores, best first: the newest of those about the same takes the best score of all.

    `scores` are by node id. What another entry supersedes counts half, and brings the newest one in its stead.
    """
    links = [link for link in entries.links() if link.relation == SUPERSEDES]
    found = entries.by_node(scores)
    value = {entry.key: scores[node_id] * _trusted(entry) for node_id, entry in found.items()}
    known = {entry.key: entry for entry in found.values()}
    age = {entry.key: (entry.changed, node_id) for node_id, entry in found.items()}
    older: dict[str, int] = {}
    for key in [*value]:
        newest, steps = _newest(key, links)
        if newest != key and (entry := known.get(newest) or entries.get(newest)) is not None:
            known[newest] = entry
            value[newest] = max(value.get(newest, 0.0), value[key])
            older[newest] = max(older.get(newest, 0), steps)
    for key, entry in known.items():
        if entry.status == SUPERSEDED:
            value[key] *= _REPLACED
    for group in _alike(found, value, index):
        best, ages = max(value[key] for key in group), sorted(group, key=age.__getitem__, reverse=True)
        older[ages[0]] = max(older.get(ages[0], 0), len(group) - 1)
        for place, key in enumerate(ages):
            value[key] = best * (1.0 - 0.001 * place) if place else best
    ranked = sorted(known.values(), key=lambda entry: (-value[entry.key], entry.key))
    return [(_told(entry, older.get(entry.key, 0)), value[entry.key]) for entry in ranked]


def _trusted(entry: Entry) -> float:
    """Return the factor of an entry that was followed: 1.05 after the first time, at most 1.25."""
    return min(1.0 + _USED * math.log2(1 + uses_of(entry)), _MOST)


def _newest(key: str, links: Sequence[EntryLink]) -> tuple[str, int]:
    """Follow what supersedes an entry to the newest; return it, and how many steps away it is."""
    steps, seen = 0, {key}
    while (after := next((link.source for link in links if link.target == key), "")) and after not in seen:
        key, steps = after, steps + 1
        seen.add(key)
    return key, steps


def _alike(found: Mapping[int, Entry], value: Mapping[str, float], index: ProjectIndex) -> list[list[str]]:
    """Return the groups of active notes of one category that are about the same, the best first."""
    left = [
        (entry.key, str(entry.data.get("category", "")), vectors)
        for node_id, entry in sorted(found.items(), key=lambda pair: -value[pair[1].key])
        if entry.kind == NOTE and entry.status != SUPERSEDED and (vectors := _statement(index, node_id)) is not None
    ]
    groups = list[list[str]]()
    while left:
        _, category, vectors = left[0]
        group = [
            key for key, other, said in left if other == category and float((said * vectors).sum(axis=1).min()) >= _SAME
        ]
        left = [one for one in left[1:] if one[0] not in group]
        if len(group) > 1:
            groups.append(group)
    return groups


def _statement(index: ProjectIndex, node_id: int) -> Floats | None:
    """Return the vectors of a note's title and of its text, if it is short enough to say one thing: a single piece.

    A long note (minutes, a log) is about many things: another with nearly its title does not contradict it.
    """
    title, text = (_vectors_of(index, space, node_id) for space in (HEADING_SPACE, CHUNK_SPACE))
    return np.concatenate((title, text)) if len(title) == len(text) == 1 else None


def _vectors_of(index: ProjectIndex, name: str, node_id: int) -> Floats:
    space = index.spaces.get(name)
    if space is None:
        return np.zeros((0, 0), dtype=np.float32)
    return np.asarray(space.vectors[index.node_ids[space.rows] == node_id])


def _told(entry: Entry, older: int) -> Item:
    item = item_of(entry)
    days = unconfirmed_days(entry, today())
    old = f"not confirmed for {days} days" if days else ""
    said = f"newer than {older} other{'s' if older > 1 else ''} about the same" if older else ""
    return replace(item, doc=", ".join(word for word in (item.doc, said, old) if word))
