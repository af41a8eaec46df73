"""Caches what is computed from the newest snapshot, so that questions over the same snapshot share it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Generic, TypeVar

from repertoire.retrieval.snapshot import Snapshot

V = TypeVar("V")


class SnapshotCache(Generic[V]):
    """Computes a value from a snapshot, and keeps it until another snapshot is asked for."""

    def __init__(self, compute: Callable[[Snapshot], V]) -> None:
        self._compute = compute
        self._kept: tuple[Snapshot, V] | None = None

    def of(self, snapshot: Snapshot) -> V:
        """Return the value of a snapshot, computed at the first call for it."""
        if self._kept is None or self._kept[0] is not snapshot:
            self._kept = snapshot, self._compute(snapshot)
        return self._kept[1]
