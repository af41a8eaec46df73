"""Computes the full-text scores (BM25) of every component, for each field and for each clause."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from repertoire.domain.text import content_words
from repertoire.ports import Among, GraphReader
from repertoire.retrieval.arrays import Floats, Mask
from repertoire.retrieval.snapshot import Snapshot

MAX_TERMS = 32  # words of a long prompt; more cost 10 ms over 10,000 bodies and found less, since they are pasted text
_DEPTH = 400  # rows read for a question; 1,000 took half as long again and found no more (every set, dev)
_CLAUSE_DEPTH = 100  # rows read for a clause; 200, of twice as many scored, moved no figure (every set, dev)
_ENOUGH = 2  # words are added until they match this many times the rows read; 1 cost cc_native 1.6 of R@10
_WEIGHTS = (2.0, 1.0, 1.0)  # bm25 weights of name, description and body
_TENTH = 9  # index of the tenth best row


@dataclass(frozen=True)
class Lexical:
    """Full-text scores of every row, divided by the best row's: all fields, each field, and the best clause."""

    whole: Floats
    name: Floats
    description: Floats
    body: Floats
    clause: Floats
    flatness: float  # the tenth row's score as a share of the best one's: high where the words separate rows badly

    @classmethod
    def silent(cls, size: int) -> Lexical:
        """Return the scores of a search that matched nothing: all 0."""
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
    """Score every row by a question's words and by each clause's; `depth` multiplies the number of rows read."""
    index = _Index(reader, snapshot, allowed)
    fields = index.fields(rarest(reader, words), depth * _DEPTH) * allowed
    best = float(fields[0].max(initial=0.0))
    if best <= 0.0:
        return Lexical.silent(len(snapshot))
    fields /= best
    clause = fields[0] if not clauses else np.zeros(len(snapshot))
    for text in clauses:
        found = index.whole(content_words(text)[:MAX_TERMS], depth * _CLAUSE_DEPTH) * allowed
        highest = float(found.max(initial=0.0))
        if highest > 0.0:
            np.maximum(clause, found / highest, out=clause)
    return Lexical(fields[0], fields[1], fields[2], fields[3], clause, _flatness(fields[0]))


def rarest(reader: GraphReader, words: Sequence[str]) -> list[str]:
    """Return the MAX_TERMS rarest words: those that the fewest components hold."""
    if len(words) <= MAX_TERMS:
        return list(words)
    frequency = reader.document_frequency(words)
    return sorted((word for word in words if frequency[word]), key=lambda word: frequency[word])[:MAX_TERMS]


@dataclass(frozen=True)
class _Index:
    """Full-text queries over the allowed rows of one snapshot."""

    reader: GraphReader
    snapshot: Snapshot
    allowed: Mask

    def fields(self, words: Sequence[str], depth: int) -> Floats:
        """Return the scores of the best rows, first over all fields, then for each field; 0 for other rows."""
        scores = np.zeros((4, len(self.snapshot)))
        kept, among, limit = self._narrowed(words, depth, enough=_ENOUGH)
        matched = self.reader.match_fields(kept, limit=limit, among=among)
        found = np.array(matched, dtype=np.float64).reshape(-1, 5)
        rows, known = self.snapshot.rows_of(found[:, 0].astype(np.int64))
        scores[:, rows[known]] = found[known, 1:].T
        return scores

    def whole(self, words: Sequence[str], depth: int) -> Floats:
        """Return the scores of the best rows over all fields; 0 for other rows."""
        scores = np.zeros(len(self.snapshot))
        kept, among, limit = self._narrowed(words, depth, enough=1)
        matched = self.reader.match(kept, limit=limit, weights=_WEIGHTS, among=among)
        found = np.array(matched, dtype=np.float64).reshape(-1, 2)
        rows, known = self.snapshot.rows_of(found[:, 0].astype(np.int64))
        scores[rows[known]] = found[known, 1]
        return scores

    def _narrowed(self, words: Sequence[str], depth: int, *, enough: int) -> tuple[list[str], Among | None, int]:
        """Return the words to score, the filter on rows, and the number of rows to read for the best allowed ones."""
        left_out = len(self.allowed) - int(self.allowed.sum())
        if 2 * left_out > len(self.allowed):
            node_ids = self.snapshot.node_ids[self.allowed]
            return list(words), Among(node_ids=node_ids.tolist()), depth
        frequency = self.reader.document_frequency(words)
        held = sorted((word for word in words if frequency[word]), key=lambda word: frequency[word])
        # BM25 scores a word at 0 that more than half of all rows hold
        kept = [word for word in held if 2 * frequency[word] < len(self.snapshot)] or held
        reach = np.cumsum([frequency[word] for word in kept])
        sought = int(np.searchsorted(reach, enough * (depth + left_out))) + 1
        # Scoring costs ten times as much as matching, and rows that hold only the commonest words never rank high.
        return kept, Among(kept[:sought]) if sought < len(kept) else None, depth + left_out


def _flatness(scores: Floats) -> float:
    if len(scores) <= _TENTH:
        return float(scores.min(initial=0.0))
    return float(np.partition(scores, len(scores) - 1 - _TENTH)[len(scores) - 1 - _TENTH])
