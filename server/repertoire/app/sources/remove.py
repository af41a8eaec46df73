"""Removes a source and its components from the graph."""

from __future__ import annotations

import os
from pathlib import Path

from repertoire.app.current_project import project_folder
from repertoire.app.lookup import unknown_source_text
from repertoire.app.sources.settle import remove_source
from repertoire.domain.component import CATALOGUE, PACKS
from repertoire.domain.errors import InvalidRequest
from repertoire.sources import installed
from repertoire.store.database import Store


def remove(store: Store, source: str, *, packs: Path) -> int:
    """Remove a source by its key; return how many components were removed. `packs` is the folder of the home's packs.

    Raises:
        InvalidRequest: the source is unknown, and the message lists the known ones; or a refresh brings it back.
    """
    known = {row.info.key: row.components for row in store.sources.all()}
    if origin := _comes_back(source, packs):
        message = f"{source} {origin} and comes back with every refresh; `repertoire mute {source}` silences it"
        raise InvalidRequest(message)
    if source not in known:
        raise InvalidRequest(unknown_source_text(source, list(known)))
    remove_source(store, source)
    return known[source]


def _comes_back(source: str, packs: Path) -> str:
    """Say where the next refresh would read a source from that nobody added by hand; empty if from nowhere."""
    if source == CATALOGUE:
        return "is shipped"
    if source == PACKS and packs.is_dir():
        return "names the packs of this home (`repertoire pack remove NAME` deletes one)"
    machine = installed.look(os.environ, project=project_folder())
    return "is what Claude Code has on this machine" if source in {place.key for place in machine.places} else ""
