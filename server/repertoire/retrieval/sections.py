"""Ranks the sections of a knowledge pack by words, by the vectors of their chunks and by those of their headings."""

from __future__ import annotations

import itertools
import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import ClassVar, NamedTuple

import numpy as np
from typing_extensions import Self

from repertoire.domain.pack import (
    CHUNK_SPACE,
    HAS_CHUNK,
    HAS_SECTION,
    HEADING_SPACE,
    LINKS_TO,
    PACK,
    SECTION,
    SECTIONS,
)
from repertoire.domain.pack_stages import TEXT, VECTORS
from repertoire.ports import Among, GraphReader, VectorReader, Vectors
from repertoire.retrieval.arrays import Floats, Mask, Rows, Space, best_rows
from repertoire.retrieval.part_index import PartIndex, PartRun
from repertoire.retrieval.sign_codes import AVAILABLE, NodeVectors, SignCodes
from repertoire.retrieval.stage import Stage, take_all
from repertoire.retrieval.translation import forms_asked, words_asked

WORDS, CHUNKS, HEADINGS = "words", "chunks", "headings"  # names of the evidence that is added up
# Chosen on two of three packs and measured on the third, each in turn.
WEIGHTS: Mapping[str, float] = {WORDS: 0.4, CHUNKS: 1.0, HEADINGS: 0.25}
_SECOND = 0.15  # weight of a section's second chunk: what is said twice is more likely the subject
_FIELDS = (2.0, 1.0, 1.0)  # BM25 weights of heading, headings above it, and text
_DEPTH = 400  # sections that full text returns
_FEW, _BEST = 20_000, 500  # of more rows, only the headings of the best so far are compared: a fifth of the time
_MANY, _LIKELY = 5_000, 0.04  # of more chunks, this share is compared, chosen by signs; bench/packs saw no other answer
_LOOKED_UP = 0.25  # of more than _FEW sections, the share that may have the words which are looked up
_NO_WORTH = 1e-6  # what a word counts that most sections hold, as in FTS5
_MOST_WORDS = 64  # content words of a question
_NONE: Rows = np.zeros(0, dtype=np.int64)
_NO_VECTORS = NodeVectors(_NONE, np.zeros((0, 0), dtype=np.float32))


class Groups(NamedTuple):
    """The places of vectors sorted by their rows: where the vectors of each row begin, and how many it has."""

    order: Rows
    rows: Rows
    begins: Rows
    sizes: Rows
    of: Rows  # the group of each place
    sorted: bool  # the vectors lie in this order already
    whole: bool = True  # it holds every vector

    def only(self, chosen: Rows) -> Groups:
        """Return some of the groups, by their numbers in ascending order, with all places of each."""
        sizes = self.sizes[chosen]
        begins = np.concatenate((np.zeros(1, dtype=np.int64), np.cumsum(sizes)[:-1]))
        places = np.arange(int(sizes.sum())) + np.repeat(self.begins[chosen] - begins, sizes)
        of = np.repeat(np.arange(len(chosen)), sizes)
        return Groups(self.order[places], self.rows[chosen], begins, sizes, of, sorted=False, whole=False)

    def cosines(self, vectors: Vectors, vector: Vectors) -> Vectors:
        """Return the products of a vector with those of the groups, in their order."""
        if not self.whole:
            return np.asarray(vectors[self.order] @ vector)
        found = vectors @ vector
        return np.asarray(found if self.sorted else found[self.order])


@dataclass(frozen=True)
class SectionIndex(PartIndex):
    """The sections of a pack as arrays, with the vectors of their chunks and headings."""

    layout = PACK
    view = SECTIONS
    row_kinds: ClassVar[Collection[str]] = (SECTION,)
    chunks: NodeVectors = _NO_VECTORS

    @cached_property
    def chunk_groups(self) -> Groups:
        """The vectors of chunks by their sections: sorting them for each question took longer than comparing them."""
        owners = self.spaces[CHUNK_SPACE].rows
        order = np.argsort(owners, kind="stable")
        rows, begins, sizes = np.unique(owners[order], return_index=True, return_counts=True)
        of = np.repeat(np.arange(len(rows)), sizes)
        return Groups(order, rows, begins, sizes, of, bool((np.diff(owners) >= 0).all()))

    @property
    def chunk_codes(self) -> SignCodes | None:
        """The signs of the chunks' vectors, where there are so many that comparing all of them takes long."""
        return self.chunks.codes if AVAILABLE and len(self.chunks.ids) > _MANY else None

    @cached_property
    def heading_places(self) -> Rows:
        """Where the heading's vector of each row is; -1 for a row without one."""
        places = np.full(len(self), -1, dtype=np.int64)
        rows = self.spaces[HEADING_SPACE].rows
        places[rows] = np.arange(len(rows))
        return places

    @cached_property
    def article_of(self) -> Rows:
        """The topology position of the article of every row; -1 where there is none."""
        edges = self.related(HAS_SECTION)
        found = np.full(len(self.topology.ids), -1, dtype=np.int64)
        found[self.topology.target[edges]] = self.topology.source[edges]
        return np.asarray(found[self.positions])

    @cached_property
    def links(self) -> tuple[Rows, Rows]:
        """The topology positions of articles that link, and of those that they link to."""
        edges = self.related(LINKS_TO)
        return self.topology.source[edges], self.topology.target[edges]

    def parts_and_owners(self) -> tuple[Rows, Rows]:
        """Return the topology positions of all chunks, and those of their sections."""
        edges = self.related(HAS_CHUNK)
        return self.topology.target[edges], self.topology.source[edges]

    def with_vectors(self, chunks: NodeVectors, headings: NodeVectors) -> Self:
        """Return a copy with the vectors of chunks and headings."""
        read = replace(self, chunks=chunks)
        return read.with_spaces(
            {
                CHUNK_SPACE: Space(self.rows_of_parts(chunks.ids), chunks.vectors),
                HEADING_SPACE: Space(self.rows_of(headings.ids)[0], headings.vectors),
            }
        )


def read_sections(graph: GraphReader, vectors: VectorReader, model: str) -> SectionIndex:
    """Return the sections of a pack, with the vectors of one model."""
    index = SectionIndex(graph.revision(SECTIONS), graph.topology(SECTIONS), {})
    chunks, headings = (NodeVectors(*vectors.matrix(space, model)) for space in (CHUNK_SPACE, HEADING_SPACE))
    return index.with_vectors(chunks, headings)


@dataclass
class SectionRun(PartRun[SectionIndex]):
    """The state of one question to a pack or a project's view: stages add evidence, the last one adds it up."""

    most_words = _MOST_WORDS
    held: ClassVar[bool] = False  # of very many sections, words count where they are held, and not how often

    weights: Mapping[str, float] = field(default_factory=lambda: WEIGHTS)
    second_chunk: float = _SECOND
    embedded: dict[str, Vectors] = field(default_factory=dict)  # questions that another run embedded already
    meaning: str = ""  # what is embedded in place of the question
    only: Rows | None = None  # node ids of the sections that are ranked; None: all of them
    evidence: dict[str, Floats] = field(default_factory=dict)
    nearest: float = 0.0  # cosine of the chunk that is nearest to the question
    nearest_chunks: tuple[Rows, Rows] = (_NONE, _NONE)  # rows in order, and the node id of the nearest chunk of each
    cosines: Vectors = field(default_factory=lambda: np.zeros(0, dtype=np.float32))  # of these chunks

    @property
    def compared(self) -> bool:
        """Whether the vectors of chunks were compared with the question."""
        return CHUNKS in self.evidence

    @property
    def compares(self) -> bool:
        """Whether vectors are to be compared, so that words need not tell sections apart by themselves."""
        return self.embedder is not None and VECTORS not in self.without

    @cached_property
    def vector(self) -> Vectors | None:
        """The question's vector; None without a model or without vectors in the pack.

        In another language it is that of its English, unless its own is nearer: older packs have vectors of the
        original text.
        """
        if self.embedder is None or not len(self.index.spaces[CHUNK_SPACE].rows):
            return None
        asked = self.meaning or self.question
        forms = forms_asked(asked, self.embedder.model)
        if fresh := [form for form in forms if form not in self.embedded]:
            vectors = np.asarray(self.embedder.embed_passages(fresh), dtype=np.float32)
            self.embedded.update(zip(fresh, vectors, strict=True))
        chunks = self.index.spaces[CHUNK_SPACE].vectors
        nearest = max(forms, key=lambda form: float((chunks @ self.embedded[form]).max())) if len(forms) > 1 else asked
        return self.embedded[nearest]

    @cached_property
    def within(self) -> Mask | None:
        """Which rows are ranked; None where all are."""
        return None if self.only is None else np.isin(self.index.node_ids, self.only)

    @cached_property
    def words(self) -> list[str]:
        """The question's content words, as it is written and in English."""
        return words_asked(self.question)[: self.most_words]


class RankedSection(NamedTuple):
    """A section by its node id, with its score and the node id of the chunk that is nearest to the question."""

    node_id: int
    score: float
    chunk: int | None


def by_words(run: SectionRun) -> str:
    """Score sections by full text, as a share of the best score."""
    if run.held and run.compares and len(run.index) > _FEW:
        return _by_held_words(run)
    among = None if run.only is None else Among(node_ids=run.only.tolist())
    found = run.graph.match(_telling(run), limit=_DEPTH, weights=_FIELDS, among=among, view=run.index.view)
    scores = np.zeros(len(run.index))
    if found and found[0][1] > 0.0:
        rows, known = run.index.rows_of(np.array([node_id for node_id, _ in found], dtype=np.int64))
        scores[rows[known]] = np.array([score / found[0][1] for _, score in found])[known]
    run.evidence[WORDS] = scores
    return f"{len(found)} matched"


def _by_held_words(run: SectionRun) -> str:
    """Score sections by the words that they hold, rare ones counting more, as a share of the best score."""
    size = len(run.index)
    scores = np.zeros(size)
    for word in run.words:
        rows, known = run.index.rows_of(run.graph.holders(word, view=run.index.view))
        if len(rows):
            scores[rows[known]] += max(math.log((size - len(rows) + 0.5) / (len(rows) + 0.5)), _NO_WORTH)
    best = float(scores.max(initial=0.0))
    run.evidence[WORDS] = scores / best if best > 0.0 else scores
    return f"{int(np.count_nonzero(scores))} hold a word"


def _telling(run: SectionRun) -> list[str]:
    """Return the words of a question; of very many sections, the rarest alone, as long as few sections have them."""
    if min(len(run.index), len(run.index if run.only is None else run.only)) <= _FEW:
        return run.words
    frequency = run.graph.document_frequency(run.words, view=run.index.view)
    rarest = sorted((word for word in run.words if frequency[word]), key=frequency.__getitem__)
    held = list(itertools.accumulate(frequency[word] for word in rarest))
    return [
        word
        for word, sections in zip(rarest, held, strict=True)
        if sections <= max(held[0], _LOOKED_UP * len(run.index))
    ]


def by_chunks(run: SectionRun) -> str:
    """Score sections by the cosine of their nearest chunk, and a part of that of the second."""
    if run.vector is None:
        return "no vectors"
    groups = _groups_to_compare(run, run.vector)
    if not len(groups.rows):
        return "no vectors"
    cosines = groups.cosines(run.index.spaces[CHUNK_SPACE].vectors, run.vector)
    first = np.maximum.reduceat(cosines, groups.begins)
    equal = np.flatnonzero(cosines == first[groups.of])
    nearest = equal[np.searchsorted(equal, groups.begins)]  # of equally near chunks the first
    cosines[nearest] = -np.inf
    second = np.maximum.reduceat(cosines, groups.begins)
    scores = np.zeros(len(run.index))
    scores[groups.rows] = first + run.second_chunk * np.where(groups.sizes > 1, second, 0.0)
    run.evidence[CHUNKS], run.nearest = scores, float(first.max(initial=0.0))
    run.nearest_chunks, run.cosines = (groups.rows, run.index.chunks.ids[groups.order[nearest]]), first
    return f"{len(groups.rows)} compared"


def _groups_to_compare(run: SectionRun, vector: Vectors) -> Groups:
    """Return the chunks of all sections; of very many, those of sections that signs or words find likely."""
    index, groups = run.index, run.index.chunk_groups
    if run.within is not None:  # all of them: the likeliest of all sections may lie elsewhere
        return groups.only(np.flatnonzero(run.within[groups.rows]))
    if index.chunk_codes is None:
        return groups
    likely = np.zeros(len(index), dtype=np.bool_)
    owners = index.spaces[CHUNK_SPACE].rows
    likely[owners[index.chunk_codes.nearest(vector, int(_LIKELY * len(owners)))]] = True
    if WORDS in run.evidence:
        words = run.evidence[WORDS]
        likely[best_rows(np.where(words > 0.0, words, -np.inf), _DEPTH)] = True
        run.evidence[WORDS] = np.where(likely, words, 0.0)  # what is not compared is not ranked
    return groups.only(np.flatnonzero(likely[groups.rows]))


def by_headings(run: SectionRun) -> str:
    """Score sections by the cosine of their headings."""
    space = run.index.spaces[HEADING_SPACE]
    if run.vector is None or not len(space.rows):
        return "no vectors"
    scores = np.zeros(len(run.index))
    if len(run.index) <= _FEW:
        scores[space.rows] = space.vectors @ run.vector
        run.evidence[HEADINGS] = scores
        return f"{len(space.rows)} compared"
    best = best_rows(_weighted(run), _BEST)
    places = run.index.heading_places[best]
    known = places >= 0
    scores[best[known]] = space.vectors[places[known]] @ run.vector
    run.evidence[HEADINGS] = scores
    return f"{int(known.sum())} compared"


def add_up(run: SectionRun) -> str:
    """Add up the weighted evidence; a section without any evidence is not ranked."""
    run.scores = _weighted(run)
    return f"{int((run.scores > 0.0).sum())} ranked"


def _weighted(run: SectionRun) -> Floats:
    total = np.zeros(len(run.index))
    for name, found in run.evidence.items():
        total += run.weights[name] * found
    return np.where((total > 0.0) if run.within is None else (total > 0.0) & run.within, total, -np.inf)


EVIDENCE: tuple[Stage[SectionRun], ...] = (
    Stage(WORDS, TEXT, by_words, worth=lambda run: run.weights[WORDS] > 0.0, cheap=True),
    Stage(CHUNKS, VECTORS, by_chunks, worth=lambda run: run.weights[CHUNKS] > 0.0),
    Stage(HEADINGS, VECTORS, by_headings, worth=lambda run: run.weights[HEADINGS] > 0.0),
)
SUM: Stage[SectionRun] = Stage("sum", "", add_up, cheap=True)
STAGES = (*EVIDENCE, SUM)


def rank_sections(run: SectionRun, *, limit: int) -> list[RankedSection]:
    """Return the best sections, best first."""
    take_all(STAGES, run)
    return ranked_sections(run, best_rows(run.scores, limit).tolist())


def nearest_sections(run: SectionRun, most: int) -> list[tuple[int, float]]:
    """Return the node ids of the sections with the nearest chunks, nearest first, and the cosines of these chunks."""
    rows, _ = run.nearest_chunks
    best = best_rows(np.asarray(run.cosines, dtype=np.float64), most)
    return [(int(run.index.node_ids[rows[place]]), float(run.cosines[place])) for place in best.tolist()]


def ranked_sections(run: SectionRun, rows: Sequence[int]) -> list[RankedSection]:
    """Return rows of a run that has scores as ranked sections, in this order."""
    ids, scores = run.index.node_ids, run.scores
    chunks = dict(zip(*(part.tolist() for part in _chunks_of(run, rows)), strict=True))
    return [RankedSection(int(ids[row]), float(scores[row]), chunks.get(row)) for row in rows]


def _chunks_of(run: SectionRun, rows: Sequence[int]) -> tuple[Rows, Rows]:
    """Return those of the rows that were compared, and the node id of the nearest chunk of each."""
    known, chunks = run.nearest_chunks
    wanted = np.isin(known, [*rows])
    return known[wanted], chunks[wanted]
