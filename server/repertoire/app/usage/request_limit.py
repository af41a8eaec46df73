"""Limits the number of past requests: deletes the least useful ones, in an order that is the same at any time.

A request's usefulness is the number of its selections, halved for each half-life since the last one. A request whose
components no longer serve it counts as never selected and is deleted first. Of equally useful requests, the one whose
nearest neighbour is farthest is deleted first, as the least likely to be asked again; then the oldest.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from datetime import date

import numpy as np

from repertoire.domain.answer import REQUEST_SPACE
from repertoire.learning.usage import HALF_LIFE_DAYS
from repertoire.settings import Settings
from repertoire.store.database import Store
from repertoire.store.requests import RequestUse

_SLACK = 20  # a further 1/20 of the limit is deleted at once, so that deletions are rare
_COMPARED = 1_000  # of equally useful requests, so many oldest are compared: comparing all would take a second
_DAY = len("2026-01-01")


def bound_requests(store: Store, settings: Settings, *, query_encoder: str = "") -> None:
    """Delete the least useful past requests beyond the settings' limit."""
    count = store.requests.count()
    if count <= settings.max_requests:
        return
    least = count - settings.max_requests + settings.max_requests // _SLACK
    half_life = settings.memory_days or HALF_LIFE_DAYS
    store.requests.drop(_least_useful(store, least, half_life=half_life, query_encoder=query_encoder))


def _least_useful(store: Store, count: int, *, half_life: float, query_encoder: str) -> list[int]:
    useful = {one.node_id: _usefulness(one, half_life) for one in store.requests.uses()}
    last = sorted(useful.values())[count - 1]
    gone = [node for node, value in useful.items() if value < last]
    equals = [node for node, value in useful.items() if value == last]
    likeness = _likeness(store, equals[:_COMPARED], query_encoder) if len(equals) > count - len(gone) else {}
    equals.sort(key=lambda node: (likeness.get(node, 1.0), node))
    return [*gone, *equals[: count - len(gone)]]


def _usefulness(one: RequestUse, half_life: float) -> float:
    """Return the log2 of a request's decayed number of selections, without a summand that all requests share."""
    if one.selected <= 0.0:
        return -math.inf
    return math.log2(one.selected) + date.fromisoformat(one.last[:_DAY]).toordinal() / half_life


def _likeness(store: Store, nodes: Sequence[int], query_encoder: str) -> dict[int, float]:
    """Map each request to the cosine of its nearest other request; -1 if it has no vector."""
    ids, vectors = store.vectors.matrix(REQUEST_SPACE, query_encoder)
    place = {int(node): row for row, node in enumerate(ids.tolist())}
    found = dict.fromkeys(nodes, -1.0)
    known = [node for node in nodes if node in place]
    if known and len(ids) > 1:
        rows = np.array([place[node] for node in known])
        near = vectors[rows] @ vectors.T
        near[np.arange(len(rows)), rows] = -1.0
        found.update(zip(known, near.max(axis=1).tolist(), strict=True))
    return found
