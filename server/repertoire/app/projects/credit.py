"""Credits a good end to all that lies on its path: a done task, a followed procedure."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from repertoire.app.clock import now
from repertoire.app.projects.entry_texts import texts_of_entry
from repertoire.app.projects.shelf import OpenProject
from repertoire.domain.project import Entry
from repertoire.projects.freshness import CREDIT, credit_of
from repertoire.store.project_texts import text_hash

_NEAR, _FAR = 1.0, 0.5  # what one good end counts for an entry that is one link, and two links away
_MOST = 1_000.0


def credit(project: OpenProject, entries: Iterable[Entry]) -> None:
    """Credit every entry that is at most two links away from those that came to a good end.

    Their versions stay as they are: nobody's change is refused because of it.
    """
    store, near, at = project.store.entries, project.beside(), now()
    for entry in entries:
        node = project.store.items.node_id(entry.key)
        first = {*near.get(node or 0, {})}
        second = {far for middle in first for far in near.get(middle, {})} - first - {node}
        for nodes, worth in ((first, _NEAR), (second, _FAR)):
            for other in store.by_node(nodes).values():
                data = {**other.data, CREDIT: min(credit_of(other) + worth, _MOST)}
                store.put(replace(other, data=data), [text_hash(one) for one in texts_of_entry(other).values()], now=at)
