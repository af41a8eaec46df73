"""Defines the protocols of models and of the readers of graph and traces, and the values that the readers return."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence, Sized
from dataclasses import dataclass, field
from datetime import date
from typing import Any, Protocol, runtime_checkable

import numpy as np
import numpy.typing as npt

from repertoire.domain.component import Component
from repertoire.domain.graph import COMPONENTS
from repertoire.domain.trace import Trace, Trust

Vectors = npt.NDArray[np.float32]
Rows = npt.NDArray[np.int64]


class PassageEmbedder(Protocol):
    """Embeds what is searched as unit vectors, whose dot product is their cosine similarity."""

    @property
    def model(self) -> str:
        """Identify the weights: vectors of two different models must never be compared."""

    @property
    def dimensions(self) -> int:
        """Return the number of dimensions of a vector."""

    def embed_passages(self, texts: Sequence[str]) -> Vectors:
        """Embed texts that queries search: one L2-normalised float32 row for each text, in order."""


class Embedder(PassageEmbedder, Protocol):
    """Embeds questions too, so that they can be compared with what is searched."""

    @property
    def query_encoder(self) -> str:
        """Identify the weights and the query adapter; vectors of requests are stored under this name."""

    @property
    def loaded(self) -> bool:
        """Tell whether the model is in memory now."""

    def load(self) -> None:
        """Load the model into memory, so that the first embedding is not delayed."""

    def embed_queries(self, texts: Sequence[str]) -> Vectors:
        """Embed queries: one L2-normalised float32 row for each text, in order."""

    def embed_question(self, text: str, parts: Sequence[str]) -> Vectors:
        """Embed a query and its parts, each in the context of the whole (late chunking): one L2-normalised row each."""


def model_of(embedder: PassageEmbedder | None) -> str:
    """Return the weights that an embedder uses; empty without one."""
    return embedder.model if embedder is not None else ""


class Reranker(Protocol):
    """Scores how well texts answer a question, reading both together (cross-encoder): slower and more exact."""

    def load(self) -> None:
        """Load the model into memory, so that the first scoring is not delayed."""

    def score(self, question: str, texts: Sequence[str]) -> npt.NDArray[np.float64]:
        """Return a score for each text, higher is better."""


@runtime_checkable
class PairReader(Protocol):
    """Grades pairs of a question and a text, reading both together (cross-encoder): slower, more exact than vectors."""

    @property
    def pair_encoder(self) -> str:
        """Identify the weights and the pair adapter; empty where the model has none."""

    def read_pairs(self, pairs: Sequence[tuple[str, str]]) -> npt.NDArray[np.float64]:
        """Return the log-odds that the text of each pair serves its question and that it helps: one row of two each."""


@dataclass(frozen=True)
class StoredComponent:
    """A component with its source, dates and acceptance from the store."""

    node_id: int
    component: Component
    source: str
    source_kind: str
    first_seen: str
    accepted: str = ""  # the time when a person accepted this content; its flags are then not shown


@dataclass(frozen=True, slots=True)
class Summary:
    """The fields of a component that ranking needs, small enough to keep all components in memory."""

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
    risk: int = 0  # severity of its gravest flag (domain.trust.rank); 0 if a person accepted the content
    last_commit: str = ""  # ISO date; empty if its source has no history
    client: str = ""  # the client that it is for, if not Claude Code
    marketplace: str = ""
    described: int = 0  # characters of its description that the model is told; 0 where a person alone may start it
    described_bytes: int = 0  # these in UTF-8
    copies_plugin: bool = False  # its install line copies its whole plugin, which has no marketplace


@dataclass(frozen=True)
class Outline:
    """The fields of a component that comparisons need; without the body, so that all fit in memory."""

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
    description: str  # the beginning of the description
    client: str = ""  # the client that it is for, if not Claude Code


@dataclass(frozen=True)
class Topology:
    """The nodes and edges of a view as arrays; an edge refers to nodes by their position."""

    revision: int
    ids: npt.NDArray[np.int64]
    keys: tuple[str, ...]
    types: tuple[str, ...]
    names: tuple[str, ...]
    source: npt.NDArray[np.int64]
    target: npt.NDArray[np.int64]
    weight: npt.NDArray[np.float32]
    relation: tuple[str, ...]
    moved: Mapping[str, str] = field(default_factory=dict)  # the copy that stands for each removed component, by ids


@dataclass(frozen=True)
class Link:
    """An edge as seen from one of its nodes."""

    other: str
    other_name: str
    other_type: str
    relation: str
    outgoing: bool
    weight: float
    evidence: str


@dataclass(frozen=True)
class Among:
    """Limits a full-text query to components that contain one of these words, or to these node ids."""

    words: Sequence[str] = ()
    node_ids: Sequence[int] | None = None


class TextReader(Protocol):
    """Reads the full text of nodes for retrieval."""

    def match(
        self,
        words: Sequence[str],
        *,
        limit: int,
        weights: tuple[float, float, float],
        among: Among | None = None,
        view: str = COMPONENTS,
    ) -> list[tuple[int, float]]:
        """Return (node id, lexical score, higher is better) of nodes in a view with any of the words, best first."""


class GraphReader(TextReader, Protocol):
    """Reads the graph for retrieval."""

    def revision(self, view: str = COMPONENTS) -> int:
        """Return the revision of a view: a number that changes whenever a node or an edge in the view does."""

    def match_fields(
        self, words: Sequence[str], *, limit: int, among: Among | None = None
    ) -> list[tuple[int, float, float, float, float]]:
        """Return (node id, total score, and the scores of name, description and body alone), best first."""

    def document_frequency(self, words: Sequence[str], view: str = COMPONENTS) -> dict[str, int]:
        """Count the nodes of a view that contain each word."""

    def holders(self, word: str, view: str = COMPONENTS) -> Rows:
        """Return the ids of the nodes of a view that contain a word, in no order."""

    def summaries(self) -> list[Summary]:
        """Return the fields that ranking needs of every component, in the order of node ids."""

    def components(self, node_ids: Iterable[int]) -> dict[int, StoredComponent]:
        """Map node ids to components; an id that belongs to no component is left out."""

    def by_key(self, key: str) -> StoredComponent | None:
        """Return the component with this id, or None."""

    def skills_in(self, folder: str) -> list[StoredComponent]:
        """Return the skills whose own folder has this name, installed ones first."""
        ...

    def by_name(self, name: str, *, limit: int = 20) -> list[StoredComponent]:
        """Return the components with this name, installed ones first."""

    def data(self, node_type: str) -> dict[int, dict[str, Any]]:
        """Map the node ids of a type other than components to the stored data of each node."""

    def topology(self, view: str = COMPONENTS) -> Topology:
        """Return the nodes and edges of a view as arrays, all of one revision."""


class VectorReader(Protocol):
    """Reads vectors for retrieval."""

    def revisions(self, spaces: Sequence[str]) -> Mapping[str, tuple[int, int]]:
        """Map each vector space to a version that changes whenever a vector does, which may be after its node."""

    def matrix(self, space: str, model: str) -> tuple[npt.NDArray[np.int64], Vectors]:
        """Return the whole space as node ids and a matrix with one vector a row."""


class TraceRows(Protocol):
    """Reads traces by their numbers."""

    def by_id(self, numbers: Iterable[int], /) -> Mapping[int, Trace]:
        """Return traces by number; numbers that are none are left out."""

    def among(self, statuses: Sequence[str], tags: Sequence[str] = ()) -> list[int]:
        """Return the numbers of traces of these states that bear every one of these tags."""

    def words(self, numbers: Sequence[int], /) -> dict[int, frozenset[str]]:
        """Return the words of traces, as the full-text index holds them."""

    def showing(self, signatures: Sequence[str]) -> Mapping[str, list[int]]:
        """Map each signature to the numbers of the traces that show it, the newest where there are very many."""


class TraceStore(Protocol):
    """Holds traces and their full text: a home's database, or a community of a commons."""

    @property
    def graph(self) -> TextReader:
        """Return the full text."""

    @property
    def traces(self) -> TraceRows:
        """Return the traces."""


class TraceSpace(Protocol):
    """Reads the vectors of one vector space of traces."""

    @property
    def ids(self) -> Sized:
        """Return one entry for each trace with a vector."""

    def nearest(self, vector: Vectors, allowed: Rows, limit: int) -> dict[int, float]:
        """Return the nearest of the allowed traces with their cosine similarity."""


class TraceVotes(Protocol):
    """Holds the votes on traces as of a day."""

    def trust(self, trace: Trace, day: date) -> Trust:
        """Return the trust in a trace."""


class TraceReader(Protocol):
    """Reads what a search of traces needs, the same in a home and in a commons."""

    @property
    def store(self) -> TraceStore:
        """Return the traces."""

    def ids(self, *, active: bool) -> Rows:
        """Return the numbers of all traces, or of active ones only, in ascending order."""

    def spaces(self, model: str) -> Sequence[TraceSpace]:
        """Return a model's vectors of problems and of solutions."""

    def votes(self, day: date) -> TraceVotes:
        """Return the votes as of a day."""

    def frequencies(self, words: Sequence[str]) -> dict[str, int]:
        """Count the traces that hold each word."""

    def embed_latest(self, embedder: Embedder) -> None:
        """Embed a few new traces, where the reader may."""
