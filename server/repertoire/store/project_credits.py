"""Counts the good ends of what files hold: how often something linked with a symbol, section or file worked out."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from repertoire.domain.project import TREE
from repertoire.store.connection import Connection
from repertoire.store.light.bindings import marks


class ProjectCredits:
    """The credit of a project's files, symbols and sections; it follows a rename and goes with what bears it."""

    def __init__(self, connection: Connection) -> None:
        self._db = connection

    def add(self, worths: Mapping[int, float], *, most: float) -> None:
        """Add to the credit of nodes, never below 0 or above `most`; a node that no file holds is passed over."""
        with self._db.transaction():
            for node_id, worth in worths.items():
                self._db.execute(
                    """INSERT INTO credit SELECT id, max(0.0, ?2) FROM node WHERE id = ?1 AND source_id = ?4
                       ON CONFLICT(node_id) DO UPDATE SET worth = min(?3, max(0.0, worth + ?2))""",
                    (node_id, worth, most, TREE),
                )
            self._db.execute("DELETE FROM credit WHERE worth <= 0.0")

    def of(self, node_ids: Collection[int]) -> dict[int, float]:
        """Map those of the nodes that have credit to it."""
        wanted = list(node_ids)
        rows = self._db.rows(f"SELECT node_id, worth FROM credit WHERE node_id IN ({marks(wanted)})", wanted)
        return {int(node_id): float(worth) for node_id, worth in rows}

    def all(self) -> dict[str, float]:
        """Map the key of all that has credit to it."""
        rows = self._db.rows("SELECT n.key, c.worth FROM credit c JOIN node n ON n.id = c.node_id")
        return {str(key): float(worth) for key, worth in rows}
