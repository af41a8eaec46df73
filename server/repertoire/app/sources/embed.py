"""Embeds components and past requests and writes their vectors, in small batches that can be stopped at any time."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Sequence

import numpy as np

from repertoire.app.sources.capabilities_by_vector import assign_nearest, term_texts
from repertoire.app.sources.catalogue_source import records_of
from repertoire.app.sources.relate import relate_in_meaning
from repertoire.app.sources.shipped_vectors import ShippedVectorEmbedder
from repertoire.app.traces.embed import embed_foreign_again, embed_traces
from repertoire.catalogue.reading import Catalogue
from repertoire.domain.answer import DESCRIPTION_SPACE, REQUEST_SPACE
from repertoire.domain.component import CATALOGUE
from repertoire.ports import Embedder, PassageEmbedder, Vectors
from repertoire.retrieval.component_request import job_of
from repertoire.retrieval.embedded_text import COMPONENT_SPACES, passage
from repertoire.retrieval.translation import in_english
from repertoire.store.database import Store

_BATCH = 8  # texts of one transaction, which holds the lock briefly and is all that a kill can lose
_ROUND = 400  # texts that are read and sorted by length together, since similar lengths need little padding
_OWN_AT_ONCE = 32  # texts of a person's own components that a first answer waits for: about a second
_REMEMBERED = 4_000  # texts whose vectors are cached, since many repositories contain the same text

_EVERY = 1 << 30  # a limit above any number of rows

Tell = Callable[[int, int], None]
Row = tuple[int, str]  # a node's id and its content's hash


def nobody(_done: int, _total: int) -> None:
    """Report no progress."""


def never() -> bool:
    """Return False: embedding runs to its end."""
    return False


def embed_pending(store: Store, embedder: Embedder, *, report: Tell = nobody, stop: Callable[[], bool] = never) -> int:
    """Embed every component and request without a vector, a person's own first; return how many texts were embedded.

    At the end it assigns the capabilities and alternatives that only vectors show.

    It may be stopped and started again, and run in several processes at once: at worst some texts are embedded twice.
    """
    shipped_embedder = ShippedVectorEmbedder(embedder)
    total = sum(store.vectors.progress(space, embedder.model).total for space in COMPONENT_SPACES)
    known = _CachingEmbedder(shipped_embedder)
    for own in (True, False):
        for space in COMPONENT_SPACES:
            _embed_space(store, space, known, lambda: report(_done(store, embedder.model), total), stop, own=own)
    _embed_requests(store, embedder, stop)
    embed_foreign_again(store, embedder.model)
    embed_traces(store, embedder, stop=stop)
    if not stop():
        _relate(store, shipped_embedder)
    return known.embedded


def embed_own(store: Store, embedder: PassageEmbedder) -> None:
    """Embed some of a person's own components, so that a first answer finds them by meaning; a refresh embeds the rest.

    Descriptions come first: they are short, and say most of what a component is for.
    """
    known = _CachingEmbedder(ShippedVectorEmbedder(embedder))
    for space in (DESCRIPTION_SPACE, *COMPONENT_SPACES):
        _embed_space(store, space, known, lambda: None, lambda: known.embedded >= _OWN_AT_ONCE, own=True)


def embed_shipped(store: Store, embedder: PassageEmbedder) -> None:
    """Write the shipped vectors of the catalogue's components; no model is loaded.

    If no other component lacks vectors, assign what only vectors show, so that answers do not change later.
    """
    shipped_embedder, placed = ShippedVectorEmbedder(embedder), 0
    entries = {row.node_id for row in store.graph.summaries() if row.source == CATALOGUE}
    for space in COMPONENT_SPACES:
        rows = [row for row in store.vectors.pending(space, shipped_embedder.model, limit=_EVERY) if row[0] in entries]
        texts = _texts(store, space, shipped_embedder, rows)
        shipped = [row for row, text in texts.items() if shipped_embedder.known(text)]
        if shipped:
            vectors = shipped_embedder.embed_passages([texts[row] for row in shipped])
            store.vectors.put(space, shipped_embedder.model, shipped, vectors)
            placed += len(shipped)
    if placed and _done(store, shipped_embedder.model) == len(COMPONENT_SPACES) * len(store.graph.summaries()):
        _relate(store, shipped_embedder)


def shipped_texts(catalogue: Catalogue) -> list[str]:
    """Return all texts of the catalogue that are embedded: its entries in each vector space, and its terms."""
    records = records_of(catalogue)
    components = [component for record in records for component in record.components]
    texts = [passage(space, component).strip() for space in COMPONENT_SPACES for component in components]
    return sorted({text for text in (*texts, *term_texts(catalogue)) if text})


def _relate(store: Store, embedder: PassageEmbedder) -> None:
    assign_nearest(store, embedder)
    relate_in_meaning(store, embedder.model)


def _texts(store: Store, space: str, embedder: PassageEmbedder, rows: Sequence[Row]) -> dict[Row, str]:
    """Return the text of each row for a vector space, and mark the rows without text as done."""
    stored = store.graph.components(node_id for node_id, _ in rows)
    texts = {
        row: passage(space, stored[row[0]].component, model=embedder.model).strip() for row in rows if row[0] in stored
    }
    store.vectors.mark(space, embedder.model, embedder.dimensions, [row for row in rows if not texts.get(row)])
    return {row: text for row, text in texts.items() if text}


class _CachingEmbedder:
    """An embedder with a cache of recent texts."""

    def __init__(self, embedder: PassageEmbedder) -> None:
        self.embedder = embedder
        self.embedded = 0
        self._seen: OrderedDict[str, Vectors] = OrderedDict()

    def embed(self, texts: Sequence[str]) -> Vectors:
        new = list(dict.fromkeys(text for text in texts if text not in self._seen))
        if new:
            self.embedded += len(new)
            self._seen.update(zip(new, self.embedder.embed_passages(new), strict=True))
        vectors = np.stack([self._seen[text] for text in texts])
        while len(self._seen) > _REMEMBERED:
            self._seen.popitem(last=False)
        return vectors


def _embed_requests(store: Store, embedder: Embedder, stop: Callable[[], bool]) -> None:
    """Embed the past requests without a vector by the present query encoder."""
    while not stop():
        rows = store.requests.pending(embedder.query_encoder, limit=_BATCH)
        if not rows:
            return
        vectors = embedder.embed_queries([in_english(job_of(text), embedder.model) for _, _, text in rows])
        store.vectors.put(REQUEST_SPACE, embedder.query_encoder, [(node_id, "") for node_id, _, _ in rows], vectors)


def _done(store: Store, model: str) -> int:
    return sum(store.vectors.progress(space, model).done for space in COMPONENT_SPACES)


def _embed_space(
    store: Store,
    space: str,
    known: _CachingEmbedder,
    tell: Callable[[], None],
    stop: Callable[[], bool],
    *,
    own: bool,
) -> None:
    model = known.embedder.model
    while not stop():
        rows = store.vectors.pending(space, model, limit=_ROUND, own=own)
        if not rows:
            return
        texts = _texts(store, space, known.embedder, rows)
        wanted = sorted(texts, key=lambda row: len(texts[row]))
        for start in range(0, len(wanted), _BATCH):
            if stop():
                return
            batch = wanted[start : start + _BATCH]
            store.vectors.put(space, model, batch, known.embed([texts[row] for row in batch]))
            if start % (4 * _BATCH) == 0:
                tell()
        tell()
