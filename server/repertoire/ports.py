"""The protocols that more than one real implementation fulfils."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from repertoire.domain.component import Component
from repertoire.domain.graph import COMPONENTS

Vectors = npt.NDArray[np.float32]


class Embedder(Protocol):
    """Turns text into unit vectors whose dot product is their cosine similarity."""

    @property
    def model(self) -> str:
        """Name the weights exactly: vectors of two different values must never be compared."""

    @property
    def query_encoder(self) -> str:
        """Name the weights and how they read what is asked: vectors of requests are kept under it."""

    @property
    def dimensions(self) -> int:
        """Tell the length of every vector."""

    @property
    def loaded(self) -> bool:
        """Tell whether the model is in memory now."""

    def load(self) -> None:
        """Have the model in memory, so that embedding takes no longer than embedding does."""

    def embed_queries(self, texts: Sequence[str]) -> Vectors:
        """Embed what is asked: one L2-normalised float32 row a text, in their order."""

    def embed_question(self, text: str, parts: Sequence[str]) -> Vectors:
        """Embed what is asked, then parts of it, each as it is meant within the whole: one L2-normalised row each."""

    def embed_passages(self, texts: Sequence[str]) -> Vectors:
        """Embed what is searched: one L2-normalised float32 row a text, in their order."""


class Reranker(Protocol):
    """Judges how well texts answer a question, each together with it: slower than vectors, and closer."""

    @property
    def loaded(self) -> bool:
        """Tell whether the model is in memory now."""

    def load(self) -> None:
        """Have the model in memory, so that scoring takes no longer than scoring does."""

    def score(self, question: str, texts: Sequence[str]) -> npt.NDArray[np.float64]:
        """Return how well each text answers the question, higher is better."""


@dataclass(frozen=True)
class StoredComponent:
    """A component with what the store knows beside it."""

    node_id: int
    component: Component
    source: str
    source_kind: str
    first_seen: str
    last_changed: str
    accepted: str = ""  # when a person accepted this content, whose flags are then not told


@dataclass(frozen=True, slots=True)
class Summary:
    """What ranking needs of a component: small enough to keep for all of them."""

    node_id: int
    id: str
    name: str
    type: str
    source: str
    repository: str
    plugin: str
    content_hash: str
    installed: bool
    popularity: float
    risk: int = 0  # how grave what static checks found is (domain.trust.rank); 0 where a person accepted it
    last_commit: str = ""  # ISO date; empty where its source has no history
    client: str = ""  # whose it is, where another client than Claude Code reads it
    marketplace: str = ""
    described: int = 0  # characters of its description


@dataclass(frozen=True)
class Outline:
    """What comparing a component with others needs of it: no body, so that all of them fit in memory."""

    front_matter: Mapping[str, Any]
    node_id: int
    id: str
    name: str
    type: str
    source: str
    content_hash: str
    installed: int
    repository: str
    plugin: str
    marketplace: str
    path: str
    description: str  # its beginning
    client: str = ""  # whose it is, where another client than Claude Code reads it


@dataclass(frozen=True)
class Topology:
    """What a view reads of the graph: node ids, keys and types, and edges as positions in them, with weights."""

    revision: int
    ids: npt.NDArray[np.int64]
    keys: tuple[str, ...]
    types: tuple[str, ...]
    names: tuple[str, ...]
    source: npt.NDArray[np.int64]
    target: npt.NDArray[np.int64]
    weight: npt.NDArray[np.float32]
    relation: tuple[str, ...]


@dataclass(frozen=True)
class Link:
    """One edge as seen from a node."""

    other: str
    other_name: str
    other_type: str
    relation: str
    outgoing: bool
    weight: float
    evidence: str


@dataclass(frozen=True)
class Among:
    """Which components a full-text question is asked of: those that hold one of these words, or have these ids."""

    words: Sequence[str] = ()
    node_ids: Sequence[int] | None = None


class GraphReader(Protocol):
    """The graph as retrieval reads it: SQLite today, PostgreSQL for a team."""

    def revision(self, view: str = COMPONENTS) -> int:
        """Return the number that moves whenever a node or an edge that a view reads changes."""

    def match(
        self,
        words: Sequence[str],
        *,
        limit: int,
        weights: tuple[float, float, float],
        among: Among | None = None,
        view: str = COMPONENTS,
    ) -> list[tuple[int, float]]:
        """Return (node id, lexical score, higher is better) of what a view reads with any of the words, best first."""

    def match_fields(
        self, words: Sequence[str], *, limit: int, among: Among | None = None
    ) -> list[tuple[int, float, float, float, float]]:
        """Return (node id, score, score of the name, of the description, of the body alone), best first."""

    def document_frequency(self, words: Sequence[str]) -> dict[str, int]:
        """Count the components that hold each word."""

    def summaries(self) -> list[Summary]:
        """Return what ranking needs of every component, by node id."""

    def components(self, node_ids: Iterable[int]) -> dict[int, StoredComponent]:
        """Return components by node id; ids that are none are left out."""

    def by_key(self, key: str) -> StoredComponent | None:
        """Return the component with this id, or None."""

    def by_name(self, name: str, *, limit: int = 20) -> list[StoredComponent]:
        """Return the components of this name, installed ones first."""

    def links(self, key: str, *, limit: int = 200, view: str = COMPONENTS) -> list[Link]:
        """Return the edges of a node that a view reads, the strongest first."""

    def data(self, node_type: str) -> dict[int, dict[str, Any]]:
        """Return what is kept with every node of a type that is no component, by node id."""

    def topology(self, view: str = COMPONENTS) -> Topology:
        """Return what a view reads as arrays, consistent with one revision."""


class VectorReader(Protocol):
    """The vectors as retrieval reads them."""

    def revisions(self, spaces: Sequence[str]) -> Mapping[str, tuple[int, int]]:
        """Map each space to what moves whenever one of its vectors changes; they follow their nodes, in their time."""

    def nearest(self, space: str, model: str, vector: Vectors, *, limit: int) -> list[tuple[int, float]]:
        """Return the nearest node ids with their cosine similarity, best first."""

    def matrix(self, space: str, model: str) -> tuple[npt.NDArray[np.int64], Vectors]:
        """Return the whole space as node ids and their vectors, row by row."""
