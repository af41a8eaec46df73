"""Keeps what a person decided about a component whose file moved in its source: mutes and corrected capabilities."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence

from repertoire.app.clock import now
from repertoire.domain.component import CURATOR, PROVIDES, Edge
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
                edges = [Edge(new, f"capability:{term}", PROVIDES, 1.0, CURATOR) for term in terms]
                store.sources.set_edges(edges, now=now(), file=f"{CURATOR}:{new}")


def _moves(left: Sequence[Summary], came: Sequence[Summary]) -> Iterator[tuple[str, str]]:
    """Yield the ids of each component before and after its move: by its content, else by its name, if one has it."""
    alike: dict[tuple[str, str, str], list[str]] = defaultdict(list)
    for row in came:
        alike[row.type, "content", row.content_hash].append(row.id)
        alike[row.type, "name", row.name].append(row.id)
    for row in left:
        for found in (alike[row.type, "content", row.content_hash], alike[row.type, "name", row.name]):
            if len(found) == 1:
                yield row.id, found[0]
                break
