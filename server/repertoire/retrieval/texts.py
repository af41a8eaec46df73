"""Ranks the documents of a text index by full text and vectors, fused by reciprocal rank.

Only the measurement of any texts (`repertoire eval --kind text`) ranks with this: traces, packs and project memory have
rankings of their own.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import ClassVar

import numpy as np

from repertoire.domain.component import PART_OF
from repertoire.domain.texts import DOCUMENT, DOCUMENTS, PART_SPACE, PARTS, TEXTS
from repertoire.ports import GraphReader, VectorReader
from repertoire.retrieval.arrays import Floats, Rows, Space, best_rows
from repertoire.retrieval.part_index import PartIndex, PartRun
from repertoire.retrieval.stage import Stage, take_all

WORDS, PART_WORDS, VECTORS = "words", "parts", "vectors"  # names of the rankings that are fused
WEIGHTS: Mapping[str, float] = {WORDS: 1.0, PART_WORDS: 0.0, VECTORS: 1.0}  # plain reciprocal rank fusion
_SMOOTH = 60.0  # the constant k of reciprocal rank fusion, as in its paper
_DEPTH = 200  # rows of each ranking that are fused
_PARTS_READ = 1_000  # parts that full text returns, so that they belong to enough documents
_MOST_WORDS = 256  # content words of a question
_FIELDS = (2.0, 1.0, 1.0)  # BM25 weights of title, description (always empty here) and text


@dataclass(frozen=True)
class TextIndex(PartIndex):
    """A text index as arrays, with documents as rows and the vectors of their parts."""

    layout = TEXTS
    view = PARTS
    row_kinds: ClassVar[Collection[str]] = (DOCUMENT,)

    @cached_property
    def keys(self) -> tuple[str, ...]:
        """The key of every document, by row."""
        return tuple(self.topology.keys[position] for position in self.positions.tolist())

    def parts_and_owners(self) -> tuple[Rows, Rows]:
        """Return the topology positions of all parts, and those of their documents."""
        edges = self.related(PART_OF)
        return self.topology.source[edges], self.topology.target[edges]


def read_index(graph: GraphReader, vectors: VectorReader, model: str) -> TextIndex:
    """Return the current index, with the vectors of one model."""
    index = TextIndex(graph.revision(PARTS), graph.topology(PARTS), {})
    part_ids, matrix = vectors.matrix(PART_SPACE, model)
    return index.with_spaces({PART_SPACE: Space(index.rows_of_parts(part_ids), matrix)})


@dataclass
class TextRun(PartRun[TextIndex]):
    """The state of one question: stages add rankings of the documents, and the last stage fuses them."""

    most_words = _MOST_WORDS

    rankings: dict[str, Floats] = field(default_factory=dict)

    def rank(self, name: str, rows: Rows, scores: Floats) -> str:
        """Keep the best score of each row as a ranking; return a report line with the number of ranked rows."""
        found = np.full(len(self.index), -np.inf)
        np.maximum.at(found, rows, scores)
        self.rankings[name] = found
        return f"{int(np.isfinite(found).sum())} ranked"


def by_words(run: TextRun) -> str:
    """Rank documents by full text."""
    ids, scores = _matched(run, DOCUMENTS, _DEPTH)
    return run.rank(WORDS, run.index.rows_of(ids)[0], scores)


def by_parts(run: TextRun) -> str:
    """Rank documents by the full-text score of their best part."""
    ids, scores = _matched(run, PARTS, _PARTS_READ)
    return run.rank(PART_WORDS, run.index.rows_of_parts(ids), scores)


def by_vectors(run: TextRun) -> str:
    """Rank documents by the cosine of their nearest part."""
    space = run.index.spaces[PART_SPACE]
    if run.embedder is None or not len(space.rows):
        return "no vectors"
    asked = run.embedder.embed_passages([run.question])[0]
    return run.rank(VECTORS, space.rows, (space.vectors @ asked).astype(np.float64))


def fuse(run: TextRun) -> str:
    """Fuse the rankings by weighted reciprocal rank fusion."""
    fused = np.zeros(len(run.index))
    for name, ranking in run.rankings.items():
        rows = best_rows(ranking, _DEPTH)
        fused[rows] += run.weights[name] / (_SMOOTH + 1.0 + np.arange(len(rows)))
    run.scores = np.where(fused > 0.0, fused, -np.inf)
    return f"{int((fused > 0.0).sum())} fused"


STAGES: tuple[Stage[TextRun], ...] = (
    Stage(WORDS, "text", by_words, worth=lambda run: run.weights[WORDS] > 0.0, cheap=True),
    Stage(PART_WORDS, "text", by_parts, worth=lambda run: run.weights[PART_WORDS] > 0.0),
    Stage(VECTORS, "vectors", by_vectors, worth=lambda run: run.weights[VECTORS] > 0.0),
    Stage("fuse", "", fuse, cheap=True),
)


def rank_texts(run: TextRun, *, limit: int) -> list[tuple[str, float]]:
    """Return the keys and scores of the best documents, best first."""
    take_all(STAGES, run)
    rows = best_rows(run.scores, limit)
    return [(run.index.keys[row], float(run.scores[row])) for row in rows.tolist()]


def _matched(run: TextRun, view: str, limit: int) -> tuple[Rows, Floats]:
    found = run.graph.match(run.words, limit=limit, weights=_FIELDS, view=view)
    ids = np.array([node_id for node_id, _ in found], dtype=np.int64)
    return ids, np.array([score for _, score in found], dtype=np.float64)
