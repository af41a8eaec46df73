"""Ranks nodes by their parts: what an index of documents and one of sections have in common."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import ClassVar, Generic, TypeVar

import numpy as np

from repertoire.domain.text import content_words
from repertoire.ports import Embedder, GraphReader
from repertoire.retrieval.arrays import Arrays, Floats, Rows
from repertoire.retrieval.stage_reports import StageLog


@dataclass(frozen=True)
class PartIndex(Arrays):
    """A view as arrays whose rows are the nodes of some kinds, each with parts that full text and vectors find."""

    row_kinds: ClassVar[Collection[str]] = ()

    @cached_property
    def node_ids(self) -> Rows:
        """The node id of every row, in ascending order."""
        return self.topology.ids[np.array([kind in self.row_kinds for kind in self.topology.types], dtype=np.bool_)]

    @abstractmethod
    def parts_and_owners(self) -> tuple[Rows, Rows]:
        """Return the topology positions of all parts, and those of the nodes that they belong to."""

    @cached_property
    def owner_rows(self) -> Rows:
        """The row that a part belongs to, by the part's topology position; -1 for nodes that are no part."""
        found = np.full(len(self.topology.ids), -1, dtype=np.int64)
        parts, owners = self.parts_and_owners()
        found[parts] = self.row_at[owners]
        return found

    def rows_of_parts(self, part_ids: Rows) -> Rows:
        """Return the row that each part belongs to, given the node ids of the parts."""
        return np.asarray(self.owner_rows[np.searchsorted(self.topology.ids, part_ids)])


P = TypeVar("P", bound=PartIndex)


@dataclass
class PartRun(Generic[P]):
    """The state of one question to an index: what its stages read, and the scores of the rows."""

    most_words: ClassVar[int]  # content words of a question

    question: str
    graph: GraphReader
    index: P
    embedder: Embedder | None
    weights: Mapping[str, float]
    without: frozenset[str] = frozenset()
    stage_log: StageLog = field(default_factory=StageLog)
    effort: str = "weighs nothing"
    scores: Floats = field(init=False)

    def __post_init__(self) -> None:
        self.scores = np.full(len(self.index), -np.inf)

    @cached_property
    def words(self) -> list[str]:
        """The question's content words."""
        return content_words(self.question)[: self.most_words]
