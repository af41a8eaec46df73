"""Finds capabilities by vectors: terms that a component mentions and is near to, or without any, the nearest term."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from repertoire.app.clock import now
from repertoire.app.sources.comparison import Comparison
from repertoire.app.sources.vocabulary import shipped_vocabulary
from repertoire.catalogue import reading
from repertoire.domain.answer import DESCRIPTION_SPACE
from repertoire.domain.component import AGENT, CATALOGUE, MCP_SERVER, PROVIDES, Component, Edge
from repertoire.ingestion.capabilities import Vocabulary, mentioned
from repertoire.ingestion.version import EXTRACTOR_VERSION
from repertoire.ports import PassageEmbedder, Vectors
from repertoire.store.database import Store

LABEL = "nearest capabilities"  # label of these edges, which belong to no source
_EVIDENCE = "nearest in meaning"
_VERSION = f"{EXTRACTOR_VERSION}.1"  # version of what reads terms out of texts, and of the rules below
# Cosine thresholds, chosen on labelled components (bench/capabilities); without a word as evidence it must be higher.
_NEAR_ENOUGH, _NEAR_ENOUGH_ALONE = 0.45, 0.55
_PHRASES = 12  # synonyms in a term's embedded text; more of them would hide its name
_CHUNK = 500
_IS: Mapping[str, frozenset[str]] = {  # terms near to every component of a type, which prove nothing
    AGENT: frozenset(("agents", "agent-authoring", "parallel-agents")),
    MCP_SERVER: frozenset(("mcp", "mcp-development")),
}


def assign_nearest(store: Store, embedder: PassageEmbedder) -> None:
    """Replace the capability edges that vectors show; do nothing if the graph and its vectors are unchanged.

    Components with a curator's list and catalogue entries get none: their capabilities are written by hand.
    """
    comparison = Comparison(store, LABEL, f"{_VERSION}.{shipped_vocabulary().digest}:", model=embedder.model)
    if comparison.is_done:
        return
    ids, matrix = _read_for_real(store, embedder.model)
    edges: list[Edge] = []
    if len(ids):
        shipped = reading.load()
        terms = list(shipped.capabilities)
        near = _TermVectors(terms, embedder.embed_passages(term_texts(shipped)), shipped_vocabulary())
        known = _known(store)
        for start in range(0, len(ids), _CHUNK):
            rows = slice(start, start + _CHUNK)
            edges += _chunk(store, near, known, ids[rows].tolist(), matrix[rows])
    with comparison.writing():
        store.sources.set_edges(edges, now=now(), file=LABEL)


def term_texts(shipped: reading.Catalogue) -> list[str]:
    """Return the text that is embedded for each term of the vocabulary."""
    return [
        f"{term.replace('-', ' ')}: {', '.join(capability.synonyms[:_PHRASES])}"
        for term, capability in shipped.capabilities.items()
    ]


def _read_for_real(store: Store, model: str) -> tuple[np.typing.NDArray[np.int64], Vectors]:
    """Return node ids and description vectors of all components whose capabilities nobody wrote by hand."""
    ids, matrix = store.vectors.matrix(DESCRIPTION_SPACE, model)
    corrected = store.preferences.corrections()
    by_hand = [row.node_id for row in store.graph.summaries() if row.source == CATALOGUE or row.id in corrected]
    read = ~np.isin(ids, by_hand)
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
            texts = {"name": component.name, "description": component.described}
            for term in sorted(mentioned(self._vocabulary, component.type, texts) - known):
                if likeness[term] >= _NEAR_ENOUGH:
                    yield term, likeness[term]
            return
        best = max(likeness, key=lambda term: (likeness[term], term))
        if likeness[best] >= _NEAR_ENOUGH_ALONE and best not in _IS.get(component.type, frozenset()):
            yield best, likeness[best]


def _chunk(
    store: Store, near: _TermVectors, known: Mapping[int, set[str]], rows: Sequence[int], matrix: Vectors
) -> Iterator[Edge]:
    stored = store.graph.components(rows)
    for row, likeness in zip(rows, near.cosines(matrix), strict=True):
        if row not in stored:  # deleted by another process meanwhile
            continue
        component = stored[row].component
        for term, weight in near.terms_of(component, likeness, frozenset(known.get(row, ()))):
            evidence = f"{_EVIDENCE} ({weight:.2f})"
            yield Edge(component.id, f"capability:{term}", PROVIDES, round(weight, 3), evidence)


def _known(store: Store) -> dict[int, set[str]]:
    """Map node ids to the capabilities that words have shown."""
    found: dict[int, set[str]] = {}
    for source, _, term, _, evidence, _ in store.graph.edges_of(PROVIDES):
        if not evidence.startswith(_EVIDENCE):
            found.setdefault(source, set()).add(term)
    return found
