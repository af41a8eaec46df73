"""Sketches of the texts that components carry, and how alike pairs of texts are: worked out once, kept by content."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from repertoire.store.connection import Connection

Signature = npt.NDArray[np.uint32]
Pair = tuple[str, str]  # two text hashes, the lower first


@dataclass(frozen=True)
class Carried:
    """What was read out of a component's text: its identity, its length, and what it says of others (kind, name, …)."""

    node_id: int
    stamp: str  # what it was read from: equal means that nothing has to be read again
    text_hash: str
    words: int
    said: tuple[tuple[Any, ...], ...] = ()


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

    def put(self, carried: Sequence[Carried], sketches: Mapping[str, Signature]) -> None:
        """Keep what was read out of components' texts, and the signature of each text that is new."""
        with self._db.transaction():
            rows = [
                (text.node_id, text.stamp, text.text_hash, text.words, json.dumps(text.said))
                for text in carried
                if self._db.value("SELECT 1 FROM component WHERE node_id = ?", (text.node_id,))
            ]
            self._db.executemany(
                "INSERT OR REPLACE INTO carried_text(node_id, stamp, text_hash, words, said) VALUES (?, ?, ?, ?, ?)",
                rows,
            )
            self._db.executemany(
                "INSERT OR REPLACE INTO sketch VALUES (?, ?)",
                [
                    (text_hash, np.ascontiguousarray(sketch, dtype="<u4").tobytes())
                    for text_hash, sketch in sketches.items()
                ],
            )

    def texts(self) -> dict[int, Carried]:
        """Map every component's node id to what was read out of its text."""
        rows = self._db.rows("SELECT node_id, stamp, text_hash, words, said FROM carried_text ORDER BY node_id")
        return {
            node_id: Carried(node_id, stamp, text_hash, words, tuple(map(tuple, json.loads(said))))
            for node_id, stamp, text_hash, words, said in rows
        }

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

    def compared(self, what: str) -> str:
        """Return what `note_compared` noted last of this comparison; empty where nothing was."""
        return str(self._db.value("SELECT value FROM meta WHERE key = 'compared ' || ?", (what,)) or "")

    def note_compared(self, what: str, state: str) -> None:
        """Note for which state of the graph a comparison was made."""
        with self._db.transaction():
            self._db.execute("INSERT OR REPLACE INTO meta VALUES ('compared ' || ?, ?)", (what, state))

    def drop_unused(self) -> None:
        """Delete what is kept of texts that no component carries any more."""
        with self._db.transaction():
            self._db.execute("DELETE FROM sketch WHERE text_hash NOT IN (SELECT text_hash FROM carried_text)")
            self._db.execute(
                """DELETE FROM text_pair WHERE low NOT IN (SELECT text_hash FROM sketch)
                   OR high NOT IN (SELECT text_hash FROM sketch)"""
            )
