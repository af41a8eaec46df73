"""Fills a new home with the shipped catalogue and its vectors, within half a second, for the first answer."""

from __future__ import annotations

from repertoire.app.kernel import Repertoire
from repertoire.app.sources.embed import embed_shipped
from repertoire.app.sources.settle import settle, write_catalogue


def fill_new_home(repertoire: Repertoire) -> None:
    """Write the catalogue, its edges and its vectors into a home without an ingested source, as a refresh would."""
    store = repertoire.store
    if any(row.ingested_at for row in store.sources.all()):
        return
    write_catalogue(store)
    settle(store)
    if repertoire.embedder is not None:
        embed_shipped(store, repertoire.embedder)
