"""Keeps what a person decided about a component whose file moved in its source: mutes and corrected capabilities."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence

from repertoire.app.clock import now
from repertoire.ports import Summary
from repertoire.store.database import Store


def follow_moves(store: Store, source: str, before: Iterable[Summary]) -> None:
    """Give each component that came to a source what was decided about the one that left it and equals it."""
    corrections = store.preferences.corrections()
    if not corrections and not store.preferences.mutes():
        return
    earlier = {row.id: row for row in before if row.source == source}
    here = {row.id: row for row in store.graph.summaries() if row.source == source}
    left = [row for key, row in earlier.items() if key not in here]
    came = [row for key, row in here.items() if key not in earlier]
    if not left or not came:
        return
    with store.transaction():
        for old, new in _moves(left, came):
            store.preferences.follow(old, new)
            if terms := corrections.get(old):
                store.sources.curate(new, terms, now=now())


def _moves(left: Sequence[Summary], came: Sequence[Summary]) -> Iterator[tuple[str, str]]:
    """Yield the ids of each component before and after its move: by its content, then by its name, if one has it."""
    for trait in (lambda row: row.content_hash, lambda row: row.name):
        found = dict(_pairs(left, came, trait))
        yield from found.items()
        taken = {*found.values()}
        left = [row for row in left if row.id not in found]
        came = [row for row in came if row.id not in taken]


def _pairs(
    left: Sequence[Summary], came: Sequence[Summary], trait: Callable[[Summary], str]
) -> Iterator[tuple[str, str]]:
    ends: dict[tuple[str, str], tuple[list[str], list[str]]] = defaultdict(lambda: ([], []))
    for side, rows in enumerate((left, came)):
        for row in rows:
            ends[row.type, trait(row)][side].append(row.id)
    yield from ((old[0], new[0]) for old, new in ends.values() if len(old) == len(new) == 1)
