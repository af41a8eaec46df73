"""Finds capabilities by vectors: terms that a component mentions and is near to, or without any, the nearest term."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from repertoire.app.clock import now
from repertoire.app.sources.catalogue_source import INFO as CATALOGUE
from repertoire.app.sources.vocabulary import shipped_vocabulary
from repertoire.catalogue import reading
from repertoire.domain.answer import DESCRIPTION_SPACE
from repertoire.domain.component import AGENT, MCP_SERVER, PROVIDES, Component, Edge
from repertoire.ingestion.capabilities import Vocabulary, mentioned
from repertoire.ports import Embedder, Vectors
from repertoire.store.database import Store

LABEL = "nearest capabilities"  # label of these edges, which belong to no source
_EVIDENCE = "nearest in meaning"
# Cosine thresholds, chosen on labelled components (bench/capabilities); without a word as evidence it must be higher.
_NEAR_ENOUGH, _NEAR_ENOUGH_ALONE = 0.45, 0.55
_PHRASES = 12  # synonyms in a term's embedded text; more of them would hide its name
_CHUNK = 500
_IS: Mapping[str, frozenset[str]] = {  # terms near to every component of a type, which prove nothing
    AGENT: frozenset(("agents", "agent-authoring", "parallel-agents")),
    MCP_SERVER: frozenset(("mcp", "mcp-development")),
}


def assign_nearest(store: Store, embedder: Embedder) -> int:
    """Replace the capability edges that vectors show; return how many there are.

    Components with a curator's list and catalogue entries get none: their capabilities are written by hand.
    """
    ids, matrix = _read_for_real(store, embedder.model)
    edges: list[Edge] = []
    if len(ids):
        shipped = reading.load()
        terms = list(shipped.capabilities)
        near = _TermVectors(terms, embedder.embed_passages(term_texts(shipped)), shipped_vocabulary())
        edges = [edge for start in range(0, len(ids), _CHUNK) for edge in _chunk(store, near, ids, matrix, start)]
    store.sources.set_edges(edges, now=now(), file=LABEL)
    return len(edges)


def term_texts(shipped: reading.Catalogue) -> list[str]:
    """Return the text that is embedded for each term of the vocabulary."""
    return [
        f"{term.replace('-', ' ')}: {', '.join(capability.synonyms[:_PHRASES])}"
        for term, capability in shipped.capabilities.items()
    ]


def _read_for_real(store: Store, model: str) -> tuple[np.typing.NDArray[np.int64], Vectors]:
    """Return node ids and description vectors of all components but the catalogue's entries."""
    ids, matrix = store.vectors.matrix(DESCRIPTION_SPACE, model)
    entries = [row.node_id for row in store.graph.summaries() if row.source == CATALOGUE.key]
    read = ~np.isin(ids, entries)
    return ids[read], matrix[read]


class _TermVectors:
    """The vocabulary's terms with their vectors."""

    def __init__(self, terms: Sequence[str], vectors: Vectors, vocabulary: Vocabulary) -> None:
        self._terms = terms
        self._vectors = vectors
        self._vocabulary = vocabulary

    def cosines(self, matrix: Vectors) -> Vectors:
        return np.asarray(matrix @ self._vectors.T)

    def terms_of(self, component: Component, cosines: Vectors, known: frozenset[str]) -> Iterator[tuple[str, float]]:
        likeness = dict(zip(self._terms, cosines.tolist(), strict=True))
        if known:
            texts = {"name": component.name, "description": component.description}
            for term in sorted(mentioned(self._vocabulary, component.type, texts) - known):
                if likeness[term] >= _NEAR_ENOUGH:
                    yield term, likeness[term]
            return
        best = max(likeness, key=lambda term: (likeness[term], term))
        if likeness[best] >= _NEAR_ENOUGH_ALONE and best not in _IS.get(component.type, frozenset()):
            yield best, likeness[best]


def _chunk(
    store: Store, near: _TermVectors, ids: np.typing.NDArray[np.int64], matrix: Vectors, start: int
) -> list[Edge]:
    rows = ids[start : start + _CHUNK].tolist()
    stored = store.graph.components(rows)
    corrected = store.preferences.corrections()
    cosines = near.cosines(matrix[start : start + _CHUNK])
    edges = []
    for row, likeness in zip(rows, cosines, strict=True):
        found = stored.get(row)
        if found is None or found.component.id in corrected:
            continue
        component = found.component
        for term, weight in near.terms_of(component, likeness, _known(store, component.id)):
            evidence = f"{_EVIDENCE} ({weight:.2f})"
            edges.append(Edge(component.id, f"capability:{term}", PROVIDES, round(weight, 3), evidence))
    return edges


def _known(store: Store, component: str) -> frozenset[str]:
    """Return a component's capabilities that words have shown."""
    links = store.graph.links(component, limit=1000)
    return frozenset(
        link.other_name
        for link in links
        if link.outgoing and link.relation == PROVIDES and not link.evidence.startswith(_EVIDENCE)
    )
