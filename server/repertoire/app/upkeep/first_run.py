"""Begins a home in which nothing was read yet: with the shipped catalogue in words and meaning, in half a second."""

from __future__ import annotations

from repertoire.app.kernel import Repertoire
from repertoire.app.sources.embed import embed_shipped
from repertoire.app.sources.settle import settle, write_catalogue


def begin(repertoire: Repertoire) -> None:
    """Write the catalogue with what its entries are to each other, as a refresh would, where nothing was read yet."""
    store = repertoire.store
    if any(row.ingested_at for row in store.sources.all()):
        return
    write_catalogue(store)
    settle(store)
    if repertoire.embedder is not None:
        embed_shipped(store, repertoire.embedder)
