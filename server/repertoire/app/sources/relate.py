"""Finds edges between components of all sources: near copies, conflicts and alternatives; reads only new texts."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import astuple

import numpy as np

from repertoire.app.clock import now
from repertoire.app.sources.capabilities_by_vector import LABEL as NEAREST
from repertoire.app.sources.comparison import Comparison
from repertoire.domain.answer import DESCRIPTION_SPACE
from repertoire.domain.component import (
    ALTERNATIVE_TO,
    CATALOGUE,
    CONFLICTS_WITH,
    HOOK,
    MENTIONS,
    PROVIDES,
    TWIN_OF,
    Edge,
)
from repertoire.domain.text import content_words
from repertoire.ingestion import alternatives, conflicts, minhash, statements, twins
from repertoire.ingestion.alternatives import ComponentPurpose
from repertoire.ingestion.conflicts import ConflictCandidate
from repertoire.ingestion.statements import NamedComponent, Statement
from repertoire.ingestion.twins import ComponentText
from repertoire.ingestion.version import EXTRACTOR_VERSION
from repertoire.ports import Outline
from repertoire.store.database import Store
from repertoire.store.sketches import TextSummary

# The labels of edges that belong to no source. Only the edges labelled MEANING need vectors.
TWINS, CONFLICTS, ACROSS, MEANING = "twins", "conflicts", "across sources", "alternatives in meaning"
_VERSION = f"{minhash.VERSION}.{EXTRACTOR_VERSION}.1:"  # version of the data that is derived from texts
_CHUNK = 500
_NEAREST = 24  # nearest neighbours of each component; more than are chosen, since other rules remove most
_ROWS = 500  # rows of the similarity matrix that are computed at once

Tell = Callable[[], None]


def relate(store: Store, *, tick: Tell = lambda: None) -> None:
    """Bring the edges between sources that need no vectors up to date; do nothing if the graph is unchanged."""
    comparison = Comparison(store, ACROSS, _VERSION)
    if comparison.is_done:
        return
    _read_new(store, tick)
    known = _RuleInputs(store)
    same = twins.twins(known.copies(), _alike(store))
    said = statements.stated(known.named())
    against, preferred, apart = (
        [edge for edge in said if edge.relation == relation] for relation in (CONFLICTS_WITH, ALTERNATIVE_TO, MENTIONS)
    )
    copies = _both_ways((edge.source, edge.target) for edge in same)
    clashing = conflicts.conflicts(known.parties(), copies)
    instead = alternatives.choose(preferred, alternatives.by_words(known.jobs(), copies))
    with comparison.writing():
        for label, edges in ((TWINS, same), (CONFLICTS, [*clashing, *against]), (ACROSS, [*instead, *apart])):
            store.sources.set_edges(edges, now=now(), file=label)
        store.sources.set_edges(_still_good(store, known), now=now(), file=MEANING)


def _still_good(store: Store, known: _RuleInputs) -> list[Edge]:
    """Return the alternatives by vectors whose components still exist and are not related otherwise by now."""
    other = _both_ways([*known.pairs(ALTERNATIVE_TO, but=MEANING), *known.pairs(TWIN_OF)])
    return [
        Edge(known.ids[source], known.ids[target], ALTERNATIVE_TO, weight, told)
        for source, target, _, weight, told, label in store.graph.edges_of(ALTERNATIVE_TO)
        if label == MEANING
        and source in known.ids
        and target in known.ids
        and (known.ids[source], known.ids[target]) not in other
    ]


def relate_in_meaning(store: Store, model: str) -> None:
    """Replace the alternatives that vectors show; do nothing if the graph and its vectors are unchanged."""
    comparison = Comparison(store, MEANING, _VERSION, model=model)
    if comparison.is_done:
        return
    ids, vectors = store.vectors.matrix(DESCRIPTION_SPACE, model)
    edges: list[Edge] = []
    if len(ids):
        known = _RuleInputs(store)
        jobs = {job.id: job for job in known.jobs(nearest=True)}
        listed = [(row, jobs[known.ids[node_id]]) for row, node_id in enumerate(ids.tolist()) if node_id in known.ids]
        nearest = _nearest(vectors[[row for row, _ in listed]], [job for _, job in listed])
        present = known.pairs(ALTERNATIVE_TO, but=MEANING)
        settled = _both_ways([*present, *known.pairs(TWIN_OF)])
        edges = alternatives.fill(present, alternatives.by_meaning([job for _, job in listed], nearest, settled))
    with comparison.writing():
        store.sources.set_edges(edges, now=now(), file=MEANING)


def _read_new(store: Store, tick: Tell) -> None:
    """Read new and changed texts, and store their MinHash signatures and their statements on other components."""
    sketched = set(store.similarities.signatures()[0])
    while rows := store.similarities.pending(_VERSION, limit=_CHUNK):
        found = store.graph.components(node_id for node_id, _ in rows)
        carried, sketches = [], {}
        for node_id, stamp in rows:
            if node_id not in found:  # deleted by another process meanwhile
                continue
            component = found[node_id].component
            words = twins.identifying_words(component)
            text = minhash.text_hash(words)
            if text not in sketched and words:
                sketched.add(text)
                sketches[text] = minhash.signature(minhash.shingles(words))
            said = tuple(astuple(statement) for statement in statements.statements(component))
            carried.append(TextSummary(node_id, stamp, text, len(words), said))
        store.similarities.put(carried, sketches)
        tick()
    store.similarities.drop_unused()


def _alike(store: Store) -> dict[tuple[str, str], float]:
    """Return the exact Jaccard similarity of text pairs that may be copies, each pair computed once and stored."""
    hashes, signatures = store.similarities.signatures()
    pairs = [(hashes[low], hashes[high]) for low, high in minhash.candidates(signatures, least=twins.TWIN_THRESHOLD)]
    known = store.similarities.known_pairs()
    new = [pair for pair in pairs if pair not in known]
    if new:
        fresh = _compared(store, new)
        store.similarities.put_pairs(fresh)
        known.update(fresh)
    return {pair: known[pair] for pair in pairs if known.get(pair, 0.0) >= twins.TWIN_THRESHOLD}


def _compared(store: Store, pairs: Sequence[tuple[str, str]]) -> dict[tuple[str, str], float]:
    carrier = {carried.text_hash: carried.node_id for carried in store.similarities.texts().values()}
    wanted = sorted({text for pair in pairs for text in pair})
    shingled = {}
    for start in range(0, len(wanted), _CHUNK):
        texts = {carrier[text]: text for text in wanted[start : start + _CHUNK]}
        for node_id, stored in store.graph.components(texts).items():
            shingled[texts[node_id]] = minhash.shingles(twins.identifying_words(stored.component))
    return {
        (low, high): round(minhash.jaccard(shingled[low], shingled[high]), 4)
        for low, high in pairs
        if low in shingled and high in shingled
    }


def _nearest(
    vectors: np.typing.NDArray[np.float32], jobs: Sequence[ComponentPurpose]
) -> Iterator[tuple[int, int, float]]:
    """Yield each component's nearest neighbours of the same kind from other sources, with the cosine."""
    kinds = np.unique([job.kind for job in jobs], return_inverse=True)[1]
    places = np.unique([job.source for job in jobs], return_inverse=True)[1]
    for kind in range(int(kinds.max()) + 1):
        rows = np.flatnonzero(kinds == kind)
        own, place = np.ascontiguousarray(vectors[rows]), places[rows]
        for start in range(0, len(rows), _ROWS):
            cosines = own[start : start + _ROWS] @ own.T
            cosines[place[start : start + _ROWS, None] == place[None, :]] = -1.0
            most = min(_NEAREST, cosines.shape[1])
            for at, best in enumerate(np.argpartition(-cosines, most - 1, axis=1)[:, :most]):
                near = best[cosines[at, best] >= alternatives.SIMILARITY_THRESHOLD]
                for other in near.tolist():
                    yield int(rows[start + at]), int(rows[other]), float(cosines[at, other])


def _both_ways(pairs: Iterable[tuple[str, str]]) -> frozenset[tuple[str, str]]:
    return frozenset(pair for low, high in pairs for pair in ((low, high), (high, low)))


class _RuleInputs:
    """All components, in the forms that the rules for edges take."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._outlines = store.graph.outlines()
        self._texts = store.similarities.texts()
        self._purposes = {o.node_id: frozenset(content_words(o.description)) for o in self._outlines}
        self.ids = {outline.node_id: outline.id for outline in self._outlines}

    def copies(self) -> list[ComponentText]:
        """Return the texts of components that may be near copies, without catalogue entries."""
        return [
            ComponentText.of(outline, text.text_hash, text.words, self._purposes[outline.node_id])
            for outline, text in self._read()
            if text.words
        ]

    def named(self) -> list[NamedComponent]:
        """Return the components with their statements on others, without catalogue entries."""
        return [
            NamedComponent(o.id, o.name, o.source, o.plugin, tuple(Statement(*said) for said in text.said))
            for o, text in self._read()
        ]

    def parties(self) -> list[ConflictCandidate]:
        """Return the components that may conflict with others: no catalogue entries, none for another client."""
        read = [(o, text) for o, text in self._read() if not o.client]
        hooks = self._store.graph.components(o.node_id for o, _ in read if o.type == HOOK)
        bodies = {node_id: stored.component.body for node_id, stored in hooks.items()}
        return [
            ConflictCandidate.of(o, text.text_hash if text.words else o.id, bodies.get(o.node_id, ""))
            for o, text in read
        ]

    def jobs(self, *, nearest: bool = False) -> list[ComponentPurpose]:
        """Return the purposes of all components that may be alternatives, catalogue entries included.

        With `nearest`, capabilities that only vectors show count too; they come later than those from words.
        """
        provides: dict[int, dict[str, tuple[float, str]]] = {}
        for source, _, term, weight, told, label in self._store.graph.edges_of(PROVIDES):
            held = provides.setdefault(source, {})
            if (nearest or label != NEAREST) and (term not in held or held[term][0] < weight):
                held[term] = weight, told
        return [ComponentPurpose.of(o, provides.get(o.node_id, {}), self._purposes[o.node_id]) for o in self._outlines]

    def pairs(self, relation: str, *, but: str = "") -> list[tuple[str, str]]:
        """Return the pairs of ids that edges of a relation connect, without the edges of one label."""
        rows = self._store.graph.edges_of(relation)
        return [
            (self.ids[source], self.ids[target])
            for source, target, _, _, _, label in rows
            if label != but and source in self.ids and target in self.ids
        ]

    def _read(self) -> Iterator[tuple[Outline, TextSummary]]:
        for outline in self._outlines:
            if outline.source != CATALOGUE and outline.node_id in self._texts:
                yield outline, self._texts[outline.node_id]
