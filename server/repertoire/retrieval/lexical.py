"""Words: the full-text index's score of every component, the rarest words first where a question is long."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from repertoire.ports import GraphReader
from repertoire.retrieval.snapshot import Floats, Mask, Snapshot

FIELD_WEIGHTS = (2.0, 1.0, 1.0)  # name, description, body
MAX_TERMS = 64  # an OR of 120 words over 11,000 bodies takes over 100 ms
_DEPTH = 1000


def lexical_scores(reader: GraphReader, words: Sequence[str], snapshot: Snapshot, allowed: Mask) -> Floats:
    """Return every row's lexical score; 0 where it holds none of the words."""
    scores = np.zeros(len(snapshot))
    # A filter may leave few of the best: then all that match are read, never a list cut before the filter.
    depth = _DEPTH if allowed.all() else len(snapshot)
    found = reader.match(rarest(reader, words), limit=depth, weights=FIELD_WEIGHTS)
    if found:
        rows, known = snapshot.rows_of(np.array([node_id for node_id, _ in found], dtype=np.int64))
        scores[rows[known]] = np.array([score for _, score in found])[known]
    return scores


def rarest(reader: GraphReader, words: Sequence[str], limit: int = MAX_TERMS) -> list[str]:
    """Return at most `limit` words, those that the fewest components hold."""
    if len(words) <= limit:
        return list(words)
    frequency: Mapping[str, int] = reader.document_frequency(words)
    return sorted((word for word in words if frequency[word]), key=lambda word: frequency[word])[:limit]
