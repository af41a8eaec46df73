"""Finds the capabilities whose components' centroid is near to a question's vector."""

from __future__ import annotations

import numpy as np

from repertoire.domain.answer import DESCRIPTION_SPACE
from repertoire.ports import Vectors
from repertoire.retrieval.arrays import dot_products
from repertoire.retrieval.snapshot import Snapshot
from repertoire.retrieval.snapshot_cache import SnapshotCache

# Least cosine of the adapted question to a centroid. From here on the nearest capability belongs to the labelled answer
# six times in ten on cc_native and nine on cc_bundles; a capability that the words name does four and seven times.
_NEAR = 0.4
_MOST = 2  # capabilities that are returned
_PROVIDERS = 3  # components that a capability needs at least for a centroid


class NearestCapabilities:
    """Caches the centroid of each capability's components in the newest snapshot."""

    def __init__(self) -> None:
        self._centroids = SnapshotCache(_centroids)

    def of(self, snapshot: Snapshot, vector: Vectors) -> tuple[str, ...]:
        """Return the names of the few capabilities whose centroid is near to an adapted question, the nearest first."""
        names, centroids = self._centroids.of(snapshot)
        if not names:
            return ()
        near = dot_products(centroids, vector)
        best = np.argsort(-near, kind="stable")[:_MOST]
        return tuple(names[index] for index in best.tolist() if near[index] >= _NEAR)

    def read(self, snapshot: Snapshot) -> None:
        """Compute the centroids, if the snapshot is not the cached one."""
        self._centroids.of(snapshot)


def _centroids(snapshot: Snapshot) -> tuple[tuple[str, ...], Vectors]:
    space = snapshot.spaces[DESCRIPTION_SPACE]
    place = np.full(len(snapshot), -1, dtype=np.int64)
    place[space.rows] = np.arange(len(space.rows))
    members: dict[int, list[int]] = {}
    for row, end, _ in snapshot.provisions.entries():
        if row >= 0 and place[row] >= 0:
            members.setdefault(end, []).append(int(place[row]))
    capabilities = sorted(end for end, rows in members.items() if len(rows) >= _PROVIDERS)
    if not capabilities:
        return (), np.zeros((0, 0), dtype=np.float32)
    centroids = np.stack([space.vectors[members[end]].mean(axis=0) for end in capabilities])
    centroids /= np.maximum(np.linalg.norm(centroids, axis=1, keepdims=True), 1e-9)
    return tuple(snapshot.topology.names[end] for end in capabilities), np.asarray(centroids, dtype=np.float32)
