"""Reports the outcome of every file of a source: component, part of one, skipped or none, each with the reason."""

from __future__ import annotations

import contextlib
import os
from pathlib import Path

from repertoire.app.clone_folder import clone_folder
from repertoire.app.current_project import project_folder
from repertoire.app.lookup import similar_names, unknown_source_text
from repertoire.app.sources.catalogue_source import INFO as CATALOGUE
from repertoire.app.sources.ingest import context_of, plan_of, read_files
from repertoire.app.sources.opening import OpenedSource, Surroundings, open_address, open_place
from repertoire.domain.component import FileFate
from repertoire.domain.errors import InvalidRequest
from repertoire.ingestion.extract import extract
from repertoire.ingestion.file_outcomes import NONE
from repertoire.settings import Settings
from repertoire.sources import address as addresses
from repertoire.sources import crawl, installed
from repertoire.store.database import Store


def account(store: Store, home: Path, source: str, *, settings: Settings) -> tuple[FileFate, ...]:
    """Return the outcome of each file of a source, by key or address, from its local copy; nothing is written.

    Raises:
        SourceError: the source cannot be read.
        InvalidRequest: the source has no files, or is unknown and its name similar to a known source.
    """
    opened = _open(store, home, source, settings)
    with opened.scratch or contextlib.nullcontext():
        listing = crawl.walk(opened.mounts, limits=opened.limits, plugins=True)
        entries = {entry.path: entry for entry in listing.entries}
        plan = plan_of(opened, entries)
        files, unread = read_files(entries, opened.documents, plan, lambda _done, _total: None)
        found = extract(files, unread, plan, context_of(store, opened, entries))
    refused = [FileFate(item.path, NONE, item.reason) for item in listing.refused]
    return tuple(sorted((*found.fates, *refused), key=lambda fate: fate.path))


def _open(store: Store, home: Path, source: str, settings: Settings) -> OpenedSource:
    project = project_folder()
    machine = installed.look(os.environ, project=project)
    around = Surroundings(home, settings, machine)
    place = next((place for place in machine.places if place.key == source), None)
    if place is not None:
        return open_place(place, around)
    known = next((row.info for row in store.sources.all() if row.info.key == source), None)
    if source == CATALOGUE.key:
        message = f"{source} is {CATALOGUE.location} and has no files; `repertoire search` finds what it holds"
        raise InvalidRequest(message)
    keys = [row.info.key for row in store.sources.all()]
    if known is None and not os.path.lexists(source) and similar_names(source, keys):
        raise InvalidRequest(unknown_source_text(source, keys))
    location = known.location if known is not None else source
    if known is not None and known.kind == "git":
        location = str(clone_folder(home, known.key))  # the clone as last fetched; this report fetches nothing
    address = addresses.parse(location, trusted=True)
    return open_address(address, around, tick=lambda: None, fetch_packages=known is None)
