"""Removes a source and its components from the graph."""

from __future__ import annotations

from repertoire.app.lookup import unknown_source_text
from repertoire.app.sources.catalogue_source import INFO as CATALOGUE
from repertoire.app.sources.settle import remove_source
from repertoire.domain.errors import InvalidRequest
from repertoire.store.database import Store


def remove(store: Store, source: str) -> int:
    """Remove a source by its key; return how many components were removed.

    Raises:
        InvalidRequest: the source is unknown, and the message lists the known ones; or it is the catalogue.
    """
    if source == CATALOGUE.key:
        message = f"{source} is shipped and comes back with every refresh; `repertoire mute {source}` silences it"
        raise InvalidRequest(message)
    known = {row.info.key: row.components for row in store.sources.all()}
    if source not in known:
        raise InvalidRequest(unknown_source_text(source, list(known)))
    remove_source(store, source)
    return known[source]
