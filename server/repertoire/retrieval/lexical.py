"""Words: what the full-text index says of every component, field by field and clause by clause."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from repertoire.domain.text import content_words
from repertoire.ports import GraphReader
from repertoire.retrieval.snapshot import Floats, Mask, Snapshot

MAX_TERMS = 64  # an OR of 120 words over 11,000 bodies takes over 100 ms
_DEPTH = 1000
_CLAUSE_DEPTH = 300
_WEIGHTS = (2.0, 1.0, 1.0)  # of name, description and body, as match_fields weighs them
_TENTH = 9


@dataclass(frozen=True)
class Lexical:
    """Scores of every row, 1 for the best whole: of all fields, of each alone, and of the best clause."""

    whole: Floats
    name: Floats
    description: Floats
    body: Floats
    clause: Floats
    flatness: float  # what the tenth row has of the best one's score: high where the words tell little apart

    @classmethod
    def silent(cls, size: int) -> Lexical:
        """Return what is known without the index."""
        nothing = np.zeros(size)
        return cls(nothing, nothing, nothing, nothing, nothing, 0.0)


def lexical(
    reader: GraphReader,
    words: Sequence[str],
    clauses: Sequence[str],
    snapshot: Snapshot,
    allowed: Mask,
    *,
    depth: int = 1,
) -> Lexical:
    """Score every row by the words of a question, and by those of its clauses apart; `depth` times as deep as usual."""
    # A filter may leave few of the best: then all that match are read, never a list cut before the filter.
    every = len(snapshot)
    most, clause_depth = (depth * _DEPTH, depth * _CLAUSE_DEPTH) if allowed.all() else (every, every)
    fields = _fields(reader, rarest(reader, words), snapshot, most) * allowed
    best = float(fields[0].max(initial=0.0))
    if best <= 0.0:
        return Lexical.silent(len(snapshot))
    fields /= best
    clause = fields[0] if not clauses else np.zeros(len(snapshot))
    for text in clauses:
        found = _whole(reader, content_words(text)[:MAX_TERMS], snapshot, clause_depth) * allowed
        highest = float(found.max(initial=0.0))
        if highest > 0.0:
            np.maximum(clause, found / highest, out=clause)
    return Lexical(fields[0], fields[1], fields[2], fields[3], clause, _flatness(fields[0]))


def rarest(reader: GraphReader, words: Sequence[str], limit: int = MAX_TERMS) -> list[str]:
    """Return at most `limit` words, those that the fewest components hold."""
    if len(words) <= limit:
        return list(words)
    frequency = reader.document_frequency(words)
    return sorted((word for word in words if frequency[word]), key=lambda word: frequency[word])[:limit]


def _fields(reader: GraphReader, words: Sequence[str], snapshot: Snapshot, depth: int) -> Floats:
    scores = np.zeros((4, len(snapshot)))
    found = np.array(reader.match_fields(words, limit=depth), dtype=np.float64).reshape(-1, 5)
    rows, known = snapshot.rows_of(found[:, 0].astype(np.int64))
    scores[:, rows[known]] = found[known, 1:].T
    return scores


def _whole(reader: GraphReader, words: Sequence[str], snapshot: Snapshot, depth: int) -> Floats:
    scores = np.zeros(len(snapshot))
    found = np.array(reader.match(words, limit=depth, weights=_WEIGHTS), dtype=np.float64).reshape(-1, 2)
    rows, known = snapshot.rows_of(found[:, 0].astype(np.int64))
    scores[rows[known]] = found[known, 1]
    return scores


def _flatness(scores: Floats) -> float:
    if len(scores) <= _TENTH:
        return float(scores.min(initial=0.0))
    return float(np.partition(scores, len(scores) - 1 - _TENTH)[len(scores) - 1 - _TENTH])
