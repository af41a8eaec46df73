"""Reads the components at rows of a snapshot, each once a question, since several stages need the same ones."""

from __future__ import annotations

from repertoire.ports import GraphReader, StoredComponent
from repertoire.retrieval.arrays import Rows
from repertoire.retrieval.snapshot import Snapshot


class ComponentReader:
    """What was read of one snapshot's components for one question."""

    def __init__(self, graph: GraphReader, snapshot: Snapshot) -> None:
        self._graph = graph
        self._node_ids = snapshot.node_ids
        self._read: dict[int, StoredComponent] = {}

    def at(self, rows: Rows) -> list[tuple[int, StoredComponent]]:
        """Return the rows in their order, each with its component; what was removed since the snapshot is left out."""
        node_ids = self._node_ids[rows].tolist()
        self._read.update(self._graph.components([node_id for node_id in node_ids if node_id not in self._read]))
        return [
            (row, self._read[node_id])
            for row, node_id in zip(rows.tolist(), node_ids, strict=True)
            if node_id in self._read
        ]
