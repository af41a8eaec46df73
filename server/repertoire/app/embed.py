"""Gives components their vectors, in small batches and short transactions, so that it can be stopped at any moment."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Sequence

import numpy as np

from repertoire.app.nearest import assign_nearest
from repertoire.app.relate import relate_in_meaning
from repertoire.domain.answer import BODY_SPACE, CODE_SPACE, DESCRIPTION_SPACE, REQUEST_SPACE
from repertoire.ports import Embedder, Vectors
from repertoire.retrieval.foreign import in_english
from repertoire.retrieval.views import passage
from repertoire.store.database import Store

SPACES = (BODY_SPACE, DESCRIPTION_SPACE, CODE_SPACE)
_BATCH = 8  # what is lost when the process is killed; the lock is held for one write of so many
_ROUND = 400  # read and sorted by length together: texts of like length pad each other little
_REMEMBERED = 4_000  # many repositories carry the same text: it is embedded once

Tell = Callable[[int, int], None]


def nobody(_done: int, _total: int) -> None:
    """Tell nobody."""


def never() -> bool:
    """Go on to the end."""
    return False


def embed_pending(store: Store, embedder: Embedder, *, report: Tell = nobody, stop: Callable[[], bool] = never) -> int:
    """Embed what has no vector yet, installed components first; return how many texts of components were embedded.

    Vectors show capabilities and alternatives that words do not: once all are there, these are assigned.

    It may be stopped and started again at will, and several processes may do it at once: the worst is work done twice.
    """
    total = sum(store.vectors.progress(space, embedder.model).total for space in SPACES)
    known = _Known(embedder)
    for space in SPACES:
        _embed_space(store, space, known, lambda: report(_done(store, embedder.model), total), stop)
    _embed_requests(store, embedder, stop)
    if not stop():
        assign_nearest(store, embedder)
        relate_in_meaning(store, embedder.model)
    return known.embedded


class _Known:
    """An embedder that remembers the texts it has seen lately."""

    def __init__(self, embedder: Embedder) -> None:
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
    """Embed past requests that were kept while no model was loaded, or read by another."""
    while not stop():
        rows = store.requests.pending(embedder.reading, limit=_BATCH)
        if not rows:
            return
        vectors = embedder.embed_queries([in_english(text, embedder.model) for _, _, text in rows])
        store.vectors.put(REQUEST_SPACE, embedder.reading, [(node_id, "") for node_id, _, _ in rows], vectors)


def _done(store: Store, model: str) -> int:
    return sum(store.vectors.progress(space, model).done for space in SPACES)


def _embed_space(store: Store, space: str, known: _Known, tell: Callable[[], None], stop: Callable[[], bool]) -> None:
    model, dimensions = known.embedder.model, known.embedder.dimensions
    while not stop():
        rows = store.vectors.pending(space, model, limit=_ROUND)
        if not rows:
            return
        stored = store.graph.components(node_id for node_id, _ in rows)
        texts = {row: passage(space, stored[row[0]].component).strip() for row in rows if row[0] in stored}
        store.vectors.mark(space, model, dimensions, [row for row in rows if not texts.get(row)])
        wanted = sorted((row for row, text in texts.items() if text), key=lambda row: len(texts[row]))
        for start in range(0, len(wanted), _BATCH):
            if stop():
                return
            batch = wanted[start : start + _BATCH]
            store.vectors.put(space, model, batch, known.embed([texts[row] for row in batch]))
            if start % (4 * _BATCH) == 0:
                tell()
        tell()
