"""Caches MinHash sketches of component texts and the similarity of text pairs, by content, so each is computed once."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from repertoire.store.connection import Connection

Signature = npt.NDArray[np.uint32]
Pair = tuple[str, str]  # the hashes of two texts, the lower first


@dataclass(frozen=True)
class TextSummary:
    """A component's text in short: its hash, its length, and its statements about other components (kind, name, …)."""

    node_id: int
    stamp: str  # identifies the content and the version of the reader; if equal, the text need not be read again
    text_hash: str
    words: int
    said: tuple[tuple[Any, ...], ...] = ()


class SimilarityCache:
    """Caches results about texts. The cache is no part of the graph: it changes no revision and can be rebuilt."""

    def __init__(self, connection: Connection) -> None:
        self._db = connection

    def pending(self, version: str, *, limit: int) -> list[tuple[int, str]]:
        """Return (node id, version + content hash) of components whose present text has no such sketch yet."""
        return self._db.rows(
            """SELECT c.node_id, ?1 || c.content_hash FROM component c
               LEFT JOIN carried_text t ON t.node_id = c.node_id
               WHERE t.stamp IS NULL OR t.stamp <> ?1 || c.content_hash ORDER BY c.node_id LIMIT ?2""",
            (version, limit),
        )

    def put(self, carried: Sequence[TextSummary], sketches: Mapping[str, Signature]) -> None:
        """Store the summaries of components' texts, and the signature of each new text."""
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

    def texts(self) -> dict[int, TextSummary]:
        """Map every component's node id to the summary of its text."""
        rows = self._db.rows("SELECT node_id, stamp, text_hash, words, said FROM carried_text ORDER BY node_id")
        return {
            node_id: TextSummary(node_id, stamp, text_hash, words, tuple(map(tuple, json.loads(said))))
            for node_id, stamp, text_hash, words, said in rows
        }

    def signatures(self) -> tuple[list[str], Signature]:
        """Return the hashes of all texts, and their signatures as the rows of a matrix."""
        rows = self._db.rows("SELECT text_hash, signature FROM sketch ORDER BY text_hash")
        if not rows:
            return [], np.zeros((0, 0), dtype=np.uint32)
        matrix = np.frombuffer(b"".join(row[1] for row in rows), dtype="<u4").reshape(len(rows), -1)
        return [row[0] for row in rows], matrix

    def known_pairs(self) -> dict[Pair, float]:
        """Map every compared pair of texts to its Jaccard similarity."""
        return {
            (low, high): jaccard for low, high, jaccard in self._db.rows("SELECT low, high, jaccard FROM text_pair")
        }

    def put_pairs(self, pairs: Mapping[Pair, float]) -> None:
        """Store the similarities of pairs."""
        with self._db.transaction():
            self._db.executemany(
                "INSERT OR REPLACE INTO text_pair VALUES (?, ?, ?)",
                [(low, high, jaccard) for (low, high), jaccard in pairs.items()],
            )

    def compared(self, what: str) -> str:
        """Return the state for which `note_compared` last recorded this comparison, or an empty string."""
        return str(self._db.meta(f"compared {what}") or "")

    def note_compared(self, what: str, state: str) -> None:
        """Record the state of the graph for which a comparison was made."""
        with self._db.transaction():
            self._db.set_meta(f"compared {what}", state)

    def drop_unused(self) -> None:
        """Delete sketches and pairs of texts that no component has any more."""
        with self._db.transaction():
            self._db.execute("DELETE FROM sketch WHERE text_hash NOT IN (SELECT text_hash FROM carried_text)")
            self._db.execute(
                """DELETE FROM text_pair WHERE low NOT IN (SELECT text_hash FROM sketch)
                   OR high NOT IN (SELECT text_hash FROM sketch)"""
            )
