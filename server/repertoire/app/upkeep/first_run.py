"""Fills a new home with the shipped catalogue and its vectors, within half a second, for the first answer."""

from __future__ import annotations

from repertoire.app.kernel import Repertoire
from repertoire.app.sources.embed import embed_shipped
from repertoire.app.sources.settle import settle, write_catalogue
from repertoire.app.upkeep.refresh_due import lacks_catalogue


def fill_new_home(repertoire: Repertoire) -> None:
    """Write the catalogue, its edges and its vectors into a home that no refresh has filled, as that would."""
    store = repertoire.store
    if not lacks_catalogue(repertoire):
        return
    write_catalogue(store)
    settle(store)
    if repertoire.embedder is not None:
        embed_shipped(store, repertoire.embedder)
