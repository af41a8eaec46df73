"""Sketches of the texts that components carry, and how alike pairs of texts are: worked out once, kept by content."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import numpy.typing as npt

from repertoire.store.connection import Connection

Signature = npt.NDArray[np.uint32]
Pair = tuple[str, str]  # two text hashes, the lower first


class Likeness:
    """What was found out about texts. Nothing of it is the graph: it moves no revision and can be made again."""

    def __init__(self, connection: Connection) -> None:
        self._db = connection

    def pending(self, version: str, *, limit: int) -> list[tuple[int, str]]:
        """Return (node id, stamp) of components whose text has not been sketched as it is now."""
        return self._db.rows(
            """SELECT c.node_id, ?1 || c.content_hash FROM component c
               LEFT JOIN carried_text t ON t.node_id = c.node_id
               WHERE t.stamp IS NULL OR t.stamp <> ?1 || c.content_hash ORDER BY c.node_id LIMIT ?2""",
            (version, limit),
        )

    def put(self, carried: Sequence[tuple[int, str, str]], sketches: Mapping[str, Signature]) -> None:
        """Keep (node id, stamp, text hash) of components, and the signature of each text that is new."""
        with self._db.transaction():
            present = {
                node_id
                for node_id, _, _ in carried
                if self._db.value("SELECT 1 FROM component WHERE node_id = ?", (node_id,))
            }
            self._db.executemany(
                "INSERT OR REPLACE INTO carried_text VALUES (?, ?, ?)", [row for row in carried if row[0] in present]
            )
            self._db.executemany(
                "INSERT OR REPLACE INTO sketch VALUES (?, ?)",
                [
                    (text_hash, np.ascontiguousarray(sketch, dtype="<u4").tobytes())
                    for text_hash, sketch in sketches.items()
                ],
            )

    def texts(self) -> dict[int, str]:
        """Map every component's node id to the hash of its text."""
        return dict(self._db.rows("SELECT node_id, text_hash FROM carried_text ORDER BY node_id"))

    def signatures(self) -> tuple[list[str], Signature]:
        """Return the hashes of all texts, and their signatures row by row."""
        rows = self._db.rows("SELECT text_hash, signature FROM sketch ORDER BY text_hash")
        if not rows:
            return [], np.zeros((0, 0), dtype=np.uint32)
        matrix = np.frombuffer(b"".join(row[1] for row in rows), dtype="<u4").reshape(len(rows), -1)
        return [row[0] for row in rows], matrix

    def known_pairs(self) -> dict[Pair, float]:
        """Map the pairs of texts that were compared to how alike they are."""
        return {
            (low, high): jaccard for low, high, jaccard in self._db.rows("SELECT low, high, jaccard FROM text_pair")
        }

    def put_pairs(self, pairs: Mapping[Pair, float]) -> None:
        """Keep what comparisons came to."""
        with self._db.transaction():
            self._db.executemany(
                "INSERT OR REPLACE INTO text_pair VALUES (?, ?, ?)",
                [(low, high, jaccard) for (low, high), jaccard in pairs.items()],
            )

    def drop_unused(self) -> None:
        """Delete what is kept of texts that no component carries any more."""
        with self._db.transaction():
            self._db.execute("DELETE FROM sketch WHERE text_hash NOT IN (SELECT text_hash FROM carried_text)")
            self._db.execute(
                """DELETE FROM text_pair WHERE low NOT IN (SELECT text_hash FROM sketch)
                   OR high NOT IN (SELECT text_hash FROM sketch)"""
            )
