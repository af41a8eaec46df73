"""Brings everything that is known up to date: the catalogue, what is installed, and every source added by hand."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from repertoire.app.background import one_refresh
from repertoire.app.condense import condense_when_due
from repertoire.app.embed import embed_pending
from repertoire.app.ingest import (
    Report,
    Step,
    drop_what_left,
    keep_source,
    note_opened,
    quiet,
    settle,
    write_catalogue,
    write_source,
)
from repertoire.app.installs import note_installs
from repertoire.app.lost import note_unread
from repertoire.app.opening import Opened, Surroundings, clone_folder, open_address, open_place
from repertoire.app.project import project_folder
from repertoire.app.review import renew_learned
from repertoire.app.schedule import attempted
from repertoire.app.unwritten import take_in
from repertoire.domain.component import IngestReport, SourceInfo
from repertoire.domain.errors import SourceError
from repertoire.ports import Embedder
from repertoire.settings import Settings
from repertoire.sources import address as addresses
from repertoire.sources import installed
from repertoire.sources.scratch import PLACE, remove, sweep
from repertoire.store.database import Store

_HOUR_S = 3600.0
_BY_HAND = ("folder", "git", "project", addresses.ARCHIVE, addresses.PACKAGE)


def refresh(
    store: Store,
    home: Path,
    *,
    settings: Settings,
    embedder: Embedder | None = None,
    report: Report = quiet,
    waiting: Callable[[], None] | None = None,
) -> tuple[IngestReport, ...]:
    """Read again what is known, and what Claude Code has on this machine; a source that fails is kept as it was.

    Where the settings say not to fetch, repositories are read as they lie in the home: nothing reaches the network.
    With an embedder, what has no vector yet gets one once all text is there. `waiting` is called while another process
    is doing it.

    Raises:
        RefreshRunning: another process is doing it, and `waiting` is not given.
        StoreError: the home cannot be written.
    """
    with one_refresh(home, waiting), attempted(home):
        project = project_folder()
        machine = installed.look(os.environ, project=project)
        around = Surroundings(home, settings, machine)
        reports = [write_catalogue(store, report=report)]
        for key, open_it in _sources(store, around, report):
            reports.append(_refreshed(store, key, open_it, report))
        reports.extend(drop_what_left(store, machine, project))
        _sweep_clones(store, home)
        settle(store, report=report)
        note_installs(store)
        renew_learned(store)
        take_in(store)
        condense_when_due(store, half_life=settings.memory_days)
        if embedder is not None:
            embed_pending(store, embedder, report=lambda done, total: report(Step("", "embed", done, total)))
            store.vectors.drop_other_models(embedder.model)
    return tuple(reports)


def _sources(store: Store, around: Surroundings, report: Report) -> Iterator[tuple[str, Callable[[], Opened]]]:
    """Yield every source once; what Claude Code has of a repository goes before a clone of our own."""
    for place in around.machine.places:
        yield place.key, lambda place=place: open_place(place, around)  # type: ignore[misc]
    seen = {place.key for place in around.machine.places}
    for row in store.sources.all():
        if row.info.key not in seen and row.info.kind in _BY_HAND:
            yield row.info.key, lambda info=row.info: _reopen(info, around, report)  # type: ignore[misc]


def _reopen(info: SourceInfo, around: Surroundings, report: Report) -> Opened:
    location = Path(info.location)
    if info.kind == "project":
        for place in installed.look(os.environ, project=location).places:
            if place.key == info.key:
                return open_place(place, around)
        message = f"{info.location} has no components of its own any more"
        raise SourceError(message)
    address = addresses.parse(info.location, trusted=True)
    if info.kind == "git" and address.kind != addresses.GIT:
        address = addresses.Address(addresses.GIT, address.text, info.key)
    # npm and pip run when a person asks for a package, never by themselves
    fetch, tick = around.settings.fetch, lambda: report(Step(info.key, "fetch"))
    return open_address(address, around, tick=tick, fetch=fetch, fetch_packages=False)


def _refreshed(store: Store, key: str, open_it: Callable[[], Opened], report: Report) -> IngestReport:
    report(Step(key, "fetch"))
    try:
        opened = open_it()
        done = write_source(store, opened, report=report)
    except (SourceError, OSError) as error:  # one that cannot be reached today must not cost the others
        note_unread(store, key, str(error))
        return keep_source(store, key, f"kept as it was: {error}")
    note_opened(store, opened)
    return done


def _sweep_clones(store: Store, home: Path) -> None:
    """Delete the clones of sources that were removed, and what killed processes left."""
    kept = {
        clone_folder(home, row.info.key) for row in store.sources.all() if row.info.kind in ("git", addresses.PACKAGE)
    }
    clones = home / "sources"
    for folder in sorted(clones.iterdir()) if clones.is_dir() else ():
        # an ingest beside this refresh may have cloned what it has not written yet
        if folder not in kept and folder.name != PLACE and time.time() - folder.stat().st_mtime > _HOUR_S:
            remove(folder)
    sweep(clones / "any")
