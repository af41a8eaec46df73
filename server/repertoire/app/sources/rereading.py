"""Ingests all known sources again: Claude Code's on this machine, and those that a person added."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

from repertoire.app.sources.ingest import note_opened, write_source
from repertoire.app.sources.opening import OpenedSource, Surroundings, open_address, open_place
from repertoire.app.sources.settle import Report, Step, unread_source_report
from repertoire.app.sources.unreachable import note_unread
from repertoire.domain.component import IngestReport, SourceInfo
from repertoire.domain.errors import SourceError, SourceForgotten
from repertoire.settings import Settings
from repertoire.sources import address as addresses
from repertoire.sources import installed
from repertoire.sources.installed import Machine
from repertoire.store.database import Store

BY_HAND = ("folder", "git", "project", addresses.ARCHIVE, addresses.PACKAGE)


def reread(store: Store, home: Path, *, settings: Settings, machine: Machine, report: Report) -> list[IngestReport]:
    """Ingest every known source again; return a report for each; a source that fails keeps its components.

    What a person removes meanwhile stays removed.
    """
    around = Surroundings(home, settings, machine)
    here = {place.key for place in machine.places}
    done = []
    for key, open_it in _sources(store, around, report):
        if key in here or store.sources.is_known(key):
            with suppress(SourceForgotten):
                done.append(_refreshed(store, key, open_it, report, known_as="" if key in here else key))
    return done


def _sources(store: Store, around: Surroundings, report: Report) -> Iterator[tuple[str, Callable[[], OpenedSource]]]:
    """Yield each source once, with a function that opens it; Claude Code's clone of a repository precedes our own."""
    for place in around.machine.places:
        yield place.key, lambda place=place: open_place(place, around)  # type: ignore[misc]
    seen = {place.key for place in around.machine.places}
    for row in store.sources.all():
        if row.info.key in seen:
            continue
        if row.info.kind == "project":
            found = installed.find_in_project(os.environ, row.info)
            if found is not None:  # else it is removed as vanished
                yield found.key, lambda found=found: open_place(found, around)  # type: ignore[misc]
        elif row.given or row.info.kind in BY_HAND:
            info = replace(row.info, location=row.given or row.info.location)
            held = row.components
            yield row.info.key, lambda info=info, held=held: _reopen(info, around, report, held=held)  # type: ignore[misc]


def _reopen(info: SourceInfo, around: Surroundings, report: Report, *, held: int) -> OpenedSource:
    address = addresses.parse(info.location, trusted=True)
    if held and address.kind == addresses.FOLDER and not any(Path(address.text).iterdir()):
        message = f"{address.text} is empty now; its drive may not be mounted"
        raise SourceError(message)
    if info.kind == "git" and address.kind != addresses.GIT:
        address = addresses.Address(addresses.GIT, address.text, info.key)
    # npm and pip run only when a person asks for a package, never in a refresh
    fetch, tick = around.settings.fetch, lambda: report(Step(info.key, "fetch"))
    return open_address(address, around, tick=tick, fetch=fetch, fetch_packages=False)


def _refreshed(
    store: Store, key: str, open_it: Callable[[], OpenedSource], report: Report, *, known_as: str
) -> IngestReport:
    report(Step(key, "fetch"))
    try:
        opened = open_it()
        done = write_source(store, opened, report=report, known_as=known_as)
    except (SourceError, OSError) as error:  # one unreachable source must not stop the others
        note_unread(store, key, str(error))
        return unread_source_report(store, key, f"kept as it was: {error}")
    note_opened(store, opened)
    return done
