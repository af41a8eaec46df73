"""Reads components by snapshot row, each once per question, because several stages need the same components."""

from __future__ import annotations

from repertoire.ports import GraphReader, StoredComponent
from repertoire.retrieval.arrays import Rows
from repertoire.retrieval.snapshot import Snapshot


class ComponentReader:
    """A cache of the stored components of one snapshot, for one question."""

    def __init__(self, graph: GraphReader, snapshot: Snapshot) -> None:
        self.graph = graph
        self._node_ids = snapshot.node_ids
        self._read: dict[int, StoredComponent] = {}

    def at(self, rows: Rows) -> list[tuple[int, StoredComponent]]:
        """Return each row with its component, in order, without components that were removed since the snapshot."""
        node_ids = self._node_ids[rows].tolist()
        self._read.update(self.graph.components([node_id for node_id in node_ids if node_id not in self._read]))
        return [
            (row, self._read[node_id])
            for row, node_id in zip(rows.tolist(), node_ids, strict=True)
            if node_id in self._read
        ]
