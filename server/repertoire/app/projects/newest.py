"""Puts the newest of the entries that say the same, or the contrary, before the older ones, and says so."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from repertoire.app.clock import today
from repertoire.domain.pack import CHUNK_SPACE, HEADING_SPACE
from repertoire.domain.project import NOTE, SUPERSEDED, SUPERSEDES, Entry, EntryLink, Item
from repertoire.domain.text import counted
from repertoire.projects.freshness import credit_of, times_said, trust, unconfirmed_days, uses_of
from repertoire.retrieval.arrays import Rows
from repertoire.retrieval.sections import SectionIndex
from repertoire.store.project_entries import ProjectEntries, item_of

# Cosine, of titles and of texts, from which on two notes are about the same: Memory Fabric's bound for one memory
# told twice.
_SAME = 0.85
Vector = npt.NDArray[np.float32]
_REPLACED = 0.5  # share of its score that is left to an entry which another one supersedes


def newest_first(
    entries: ProjectEntries, found: Mapping[int, Entry], scores: Mapping[int, float], index: SectionIndex
) -> list[tuple[Item, float]]:
    """Return entries with their scores, best first: the newest of those about the same takes the best score of all.

    Entries and scores are by node id. What another entry supersedes counts half, and brings the newest one instead.
    """
    links = entries.links(relation=SUPERSEDES)
    value = {entry.key: scores[node_id] * trust(_proved(entry)) for node_id, entry in found.items()}
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


def _proved(entry: Entry) -> float:
    """Return how often an entry was followed, said again or led to a good end."""
    return uses_of(entry) + times_said(entry) + credit_of(entry)


def _newest(key: str, links: Sequence[EntryLink]) -> tuple[str, int]:
    """Follow what supersedes an entry to the newest; return it, and how many steps away it is."""
    steps, seen = 0, {key}
    while (after := next((link.source for link in links if link.target == key), "")) and after not in seen:
        key, steps = after, steps + 1
        seen.add(key)
    return key, steps


def _alike(found: Mapping[int, Entry], value: Mapping[str, float], index: SectionIndex) -> list[list[str]]:
    """Return the groups of active notes of one category that are about the same, the best first."""
    notes = [
        (entry.key, str(entry.data.get("category", "")), node_id)
        for node_id, entry in sorted(found.items(), key=lambda pair: -value[pair[1].key])
        if entry.kind == NOTE and entry.status != SUPERSEDED
    ]
    said = _statements(index, [node_id for _, _, node_id in notes])
    left = [(key, category, node_id) for key, category, node_id in notes if node_id in said]
    if not left:
        return []
    titles, texts = (np.stack([said[node_id][part] for _, _, node_id in left]) for part in (0, 1))
    near = np.minimum(titles @ titles.T, texts @ texts.T) >= _SAME
    taken, groups = set[int](), list[list[str]]()
    for first, (_, category, _) in enumerate(left):
        if first not in taken:
            group = [
                one for one in np.flatnonzero(near[first]).tolist() if one not in taken and left[one][1] == category
            ]
            taken.update(group)
            if len(group) > 1:
                groups.append([left[one][0] for one in group])
    return groups


def _statements(index: SectionIndex, node_ids: Sequence[int]) -> dict[int, tuple[Vector, Vector]]:
    """Return the vectors of title and text of the notes that are short enough to say one thing: a single piece.

    A long note (minutes, a log) is about many things: another with nearly its title does not contradict it.
    """
    if not {HEADING_SPACE, CHUNK_SPACE} <= index.spaces.keys() or not node_ids:
        return {}
    rows, known = index.rows_of(np.array(node_ids, dtype=np.int64))
    titles, texts = (index.spaces[name].vectors for name in (HEADING_SPACE, CHUNK_SPACE))
    title, text = (np.where(known, _only_vector(index, name)[rows], -1) for name in (HEADING_SPACE, CHUNK_SPACE))
    return {
        node_ids[one]: (titles[title[one]], texts[text[one]])
        for one in np.flatnonzero((title >= 0) & (text >= 0)).tolist()
    }


def _only_vector(index: SectionIndex, name: str) -> Rows:
    """Return where the vector of each row is that has one alone; -1 for the others."""
    rows = index.spaces[name].rows
    held = np.flatnonzero(rows >= 0)
    place = np.full(len(index), -1, dtype=np.int64)
    place[rows[held]] = held
    return np.where(np.bincount(rows[held], minlength=len(index)) == 1, place, -1)


def _told(entry: Entry, older: int) -> Item:
    item = item_of(entry)
    days = unconfirmed_days(entry, today())
    old = f"not confirmed for {days} days" if days else ""
    said = f"newer than {counted(older, 'other')} about the same" if older else ""
    return replace(item, doc=", ".join(word for word in (item.doc, said, old) if word))
