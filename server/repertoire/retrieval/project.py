"""Ranks one view of a project's memory (code, docs, knowledge) with the stages that rank the sections of a pack."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar, NamedTuple

import numpy as np

from repertoire.domain.project import CODE, DOCS, ENTRIES, KNOWLEDGE, SECTION, SYMBOL
from repertoire.domain.project_layout import PROJECT, chunk_space, heading_space
from repertoire.ports import Topology
from repertoire.retrieval.arrays import Rows
from repertoire.retrieval.sections import CHUNKS, HEADINGS, WORDS, SectionIndex
from repertoire.retrieval.sign_codes import NodeVectors

PASSAGE = "passage"  # evidence of an entry: how much of the question stands together in it
# Of the evidence in each view, by the dev questions of two labelled sets of code, and one each of documents and notes
# (bench/projects). Half or twice a weight of words moves no figure by 5 points.
WEIGHTS: Mapping[str, Mapping[str, float]] = {
    CODE: {WORDS: 0.2, CHUNKS: 1.0, HEADINGS: 0.35},
    DOCS: {WORDS: 1.25, CHUNKS: 1.0, HEADINGS: 0.5},
    KNOWLEDGE: {WORDS: 0.25, PASSAGE: 0.5, CHUNKS: 1.0, HEADINGS: 0.25},
}
# What the scores of a view are multiplied with where several views are searched: by the same questions, of which each
# is of code or of documents; what was saved is judged, to have as much from words as documents, and nearly as much from
# vectors as code. With words alone, the best of each view counts alike.
BESIDE: Mapping[str, float] = {CODE: 1.8, DOCS: 1.0, KNOWLEDGE: 1.75}
# Weight of the second chunk, as they were chosen; packs have another. More than .3 of an entry's finds more sessions of
# conversations, and buries the short notes beside them, which have one chunk (bench/projects).
SECOND_CHUNK: Mapping[str, float] = {CODE: 0.15, DOCS: 0.15, KNOWLEDGE: 0.3}

SEARCHED = tuple(WEIGHTS)  # the views that are searched by words and vectors
ALL_SPACES = tuple(space for view in SEARCHED for space in (chunk_space(view), heading_space(view)))


_EMPTY: Rows = np.zeros(0, dtype=np.int64)


class Parts(NamedTuple):
    """What is ranked in a view, and the pieces of it that have vectors: node ids in ascending order."""

    rows: Rows
    chunks: Rows
    owners: Rows  # what each chunk is a piece of


_NOTHING = Parts(_EMPTY, _EMPTY, _EMPTY)


@dataclass(frozen=True)
class ProjectIndex(SectionIndex):
    """One view of a project's memory as arrays, with the vectors of its chunks and headings.

    It holds no keys, names and edges: an edit changes the view, and the next question must not wait for all of it.
    """

    layout = PROJECT
    parts: Parts = _NOTHING

    @cached_property
    def node_ids(self) -> Rows:
        """The node id of every row, in ascending order."""
        return self.parts.rows

    @property
    def vector_bytes(self) -> int:
        """How many bytes the vectors take."""
        return sum(space.vectors.nbytes for space in self.spaces.values())

    def rows_of_parts(self, part_ids: Rows) -> Rows:
        """Return the row that each part belongs to, given the node ids of the parts; -1 where it is no part."""
        chunks, owners = self.parts.chunks, self.parts.owners
        if not len(chunks):
            return np.full(len(part_ids), -1, dtype=np.int64)
        places = np.minimum(np.searchsorted(chunks, part_ids), len(chunks) - 1)
        rows, known = self.rows_of(owners[places])
        return np.where(known & (chunks[places] == part_ids), rows, -1)


@dataclass(frozen=True)
class CodeIndex(ProjectIndex):
    """The symbols of a project."""

    view = CODE
    row_kinds: ClassVar[Collection[str]] = (SYMBOL,)


@dataclass(frozen=True)
class DocsIndex(ProjectIndex):
    """The sections of a project's documents."""

    view = DOCS
    row_kinds: ClassVar[Collection[str]] = (SECTION,)


@dataclass(frozen=True)
class KnowledgeIndex(ProjectIndex):
    """The notes, tasks, epics and procedures of a project."""

    view = KNOWLEDGE
    row_kinds: ClassVar[Collection[str]] = ENTRIES


_NO_EDGES = Topology(0, _EMPTY, (), (), (), _EMPTY, _EMPTY, np.zeros(0, dtype=np.float32), ())
_INDEXES: Mapping[str, type[ProjectIndex]] = {CODE: CodeIndex, DOCS: DocsIndex, KNOWLEDGE: KnowledgeIndex}


def spaces_of(view: str) -> tuple[str, str]:
    """Return the names of the vector spaces of a view."""
    return chunk_space(view), heading_space(view)


def read_project(revision: int, parts: Parts, vectors: Sequence[NodeVectors], view: str) -> ProjectIndex:
    """Return one view of a project's memory, with the vectors of its spaces: those of chunks, then of headings."""
    chunks, headings = vectors
    return _INDEXES[view](revision, _NO_EDGES, {}, parts=parts).with_vectors(chunks, headings)
