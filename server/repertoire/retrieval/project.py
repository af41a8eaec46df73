"""Ranks one view of a project's memory (code, docs, knowledge) with the stages that rank the sections of a pack."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import ClassVar

from repertoire.domain.project import (
    CODE,
    DOCS,
    ENTRIES,
    KNOWLEDGE,
    PROJECT,
    SECTION,
    SYMBOL,
    chunk_space,
    heading_space,
)
from repertoire.ports import GraphReader, VectorReader
from repertoire.retrieval.sections import CHUNKS, HEADINGS, WORDS, SectionIndex

# Of the evidence in each view: code and documents by the dev questions of one labelled set (bench/projects), where half
# or twice a weight of words moves no figure by 5 points; knowledge is not measured, and weighs words as documents do.
WEIGHTS: Mapping[str, Mapping[str, float]] = {
    CODE: {WORDS: 0.5, CHUNKS: 1.0, HEADINGS: 0.5},
    DOCS: {WORDS: 1.25, CHUNKS: 1.0, HEADINGS: 0.5},
    KNOWLEDGE: {WORDS: 1.25, CHUNKS: 1.0, HEADINGS: 0.5},
}


SEARCHED = tuple(WEIGHTS)  # the views that are searched by words and vectors
ALL_SPACES = tuple(space for view in SEARCHED for space in (chunk_space(view), heading_space(view)))


@dataclass(frozen=True)
class ProjectIndex(SectionIndex):
    """One view of a project's memory as arrays, with the vectors of its chunks and headings."""

    layout = PROJECT


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


_INDEXES: Mapping[str, type[ProjectIndex]] = {CODE: CodeIndex, DOCS: DocsIndex, KNOWLEDGE: KnowledgeIndex}


def spaces_of(view: str) -> tuple[str, str]:
    """Return the names of the vector spaces of a view."""
    return chunk_space(view), heading_space(view)


def read_project(graph: GraphReader, vectors: VectorReader, view: str, model: str) -> ProjectIndex:
    """Return one view of a project's memory, with the vectors of one model."""
    chunks, headings = (vectors.matrix(space, model) for space in spaces_of(view))
    index = _INDEXES[view](graph.revision(view), graph.topology(view), {})
    return index.with_vectors(chunks, headings)
