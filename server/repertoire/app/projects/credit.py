"""Credits a good end to all that lies on its path: a done task, a followed procedure, a solution that helped."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace

from repertoire.app.clock import now
from repertoire.app.projects.entry_texts import texts_of_entry
from repertoire.app.projects.shelf import OpenProject, ProjectShelf
from repertoire.projects.freshness import CREDIT, credit_of

_NEAR, _FAR = 1.0, 0.5  # what one good end counts for what is one link, and two links away
_MOST = 1_000.0


def credit(project: OpenProject, keys: Iterable[str], *, times: int = 1) -> None:
    """Credit every entry, symbol, section and file that is at most two links away from what came to a good end.

    Versions stay as they are: nobody's change is refused because of it. With `times` -1 it is taken back.
    """
    near = project.beside()
    for key in keys:
        node = project.store.items.node_id(key)
        first = {*near.get(node or 0, {})}
        second = {far for middle in first for far in near.get(middle, {})} - first - {node}
        _add(project, {**dict.fromkeys(second, times * _FAR), **dict.fromkeys(first, times * _NEAR)})


def credit_outcome(shelf: ProjectShelf, folder: str, keys: Iterable[str], *, times: int) -> None:
    """Credit what a project has on the path of an outcome in the home, if the folder lies in one with a memory."""
    if times and shelf.has(folder):
        credit(shelf.open(folder), keys, times=times)


def _add(project: OpenProject, worths: Mapping[int, float]) -> None:
    store, at = project.store, now()
    entries = store.entries.by_node(worths)
    for node, entry in entries.items():
        data = {**entry.data, CREDIT: min(max(credit_of(entry) + worths[node], 0.0), _MOST)}
        store.entries.put(replace(entry, data=data), texts_of_entry(entry).values(), now=at)
    store.credits.add({node: worth for node, worth in worths.items() if node not in entries}, most=_MOST)
