"""Refreshes the home: reads the catalogue, installed components and added sources again, then learns and embeds."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from contextlib import suppress
from datetime import datetime, timezone
from functools import partial
from pathlib import Path

from repertoire.app.clock import now
from repertoire.app.clone_folder import clone_folder
from repertoire.app.commons.errors import CommonsError
from repertoire.app.commons.membership import read as read_membership
from repertoire.app.current_project import project_folder
from repertoire.app.packs.places import packs_folder
from repertoire.app.session.spool import take_in
from repertoire.app.sources.embed import embed_pending, embed_shipped
from repertoire.app.sources.settle import Report, Step, quiet, remove_vanished_sources, settle, write_catalogue
from repertoire.app.upkeep import commons_breaker as breaker
from repertoire.app.upkeep.background_refresh import one_refresh
from repertoire.app.upkeep.refresh_attempts import attempted
from repertoire.app.usage.compact_log import compact_when_due
from repertoire.app.usage.installs import note_installs
from repertoire.app.usage.lessons import learn_missed
from repertoire.app.usage.review import renew_learned
from repertoire.boot import environment, session_files
from repertoire.boot.home import clones_path
from repertoire.domain.component import CATALOGUE, IngestReport
from repertoire.domain.errors import InvalidRequest
from repertoire.domain.trace import DRAFT
from repertoire.ports import Embedder
from repertoire.settings import Settings
from repertoire.sources import address as addresses
from repertoire.sources import installed
from repertoire.sources.scratch import PLACE, remove, sweep
from repertoire.store.database import Store

_HOUR_S = 3600.0


def refresh(
    store: Store,
    home: Path,
    *,
    settings: Settings,
    embedder: Embedder | None = None,
    report: Report = quiet,
    waiting: Callable[[], None] | None = None,
) -> tuple[IngestReport, ...]:
    """Ingest all known sources and Claude Code's components again; a source that fails keeps its components.

    If the settings forbid fetching, repositories are read from their clones and nothing reaches the network. With an
    embedder, components without a vector are embedded at the end. `waiting` is called while another process refreshes.

    Raises:
        RefreshRunning: another process is refreshing, and `waiting` is not given.
        StoreError: the home cannot be written.
    """
    project = project_folder()
    with one_refresh(home, waiting), attempted(home, project):
        machine = installed.look(os.environ, project=project)
        reports = [write_catalogue(store, report=report)]
        if embedder is not None:
            embed_shipped(store, embedder)  # answers during the refresh need vectors too
        if machine.places or any(row.info.key != CATALOGUE for row in store.sources.all()):
            from repertoire.app.sources.rereading import reread  # noqa: PLC0415 - first answers need it not

            reports += reread(store, home, settings=settings, machine=machine, report=report)
        reports.extend(remove_vanished_sources(store, machine, project))
        _sweep_clones(store, home)
        environment.sweep(home)  # a build does so too, but the next one may come late or never
        _tell_packs(store, home)
        settle(store, report=report)
        note_installs(store, settings)
        renew_learned(store)
        take_in(store, learn=partial(learn_missed, store, settings=settings))
        _drop_what_expired(store, home)
        _reread_traces(store)
        _sync_commons(store, home, settings)
        compact_when_due(store, half_life=settings.memory_days)
        store.backup.write(now=now())
        if embedder is not None:
            embed_pending(store, embedder, report=lambda done, total: report(Step("", "embed", done, total)))
            store.vectors.drop_other_models(embedder.model, embedder.query_encoder)
    return tuple(reports)


def _tell_packs(store: Store, home: Path) -> None:
    """Bring the components that stand in for packs up to date; homes without packs open nothing."""
    if not packs_folder(home).is_dir():
        return
    from repertoire.app.packs.shelf import PackShelf  # noqa: PLC0415 - most homes have no packs
    from repertoire.app.packs.stand_ins import tell_graph  # noqa: PLC0415
    from repertoire.store.pack_file import PackStore  # noqa: PLC0415

    shelf = PackShelf(packs_folder(home), PackStore.open)
    try:
        tell_graph(store, shelf)
    finally:
        shelf.close()


def _drop_what_expired(store: Store, home: Path) -> None:
    """Delete what was kept of sessions that never ended, and drafts of traces that nobody confirmed."""
    with suppress(OSError):  # one that cannot be deleted now is deleted by a later refresh
        session_files.remove_old(home)
    if store.traces.all(DRAFT):
        from repertoire.app.traces.contribute import drop_old_drafts  # noqa: PLC0415 - most homes have none

        drop_old_drafts(store)


def _reread_traces(store: Store) -> None:
    """Read traces again if the rules for them changed; homes without traces read nothing."""
    if store.traces.states():
        from repertoire.app.traces.reread import reread_traces  # noqa: PLC0415 - most homes have none

        reread_traces(store)


def _sync_commons(store: Store, home: Path, settings: Settings) -> None:
    """Send and fetch traces if a commons is joined; `status` shows why it could not be done.

    While the circuit breaker is open it asks nobody; `repertoire commons sync` does.
    """
    with suppress(CommonsError, InvalidRequest):
        membership = read_membership(home) if settings.fetch else None
        if membership is None:
            return
        if breaker.state(membership, datetime.now(timezone.utc)) == breaker.OPEN:
            return
        from repertoire.app.commons.sync import sync  # noqa: PLC0415 - most homes have joined none

        sync(store, home)


def _sweep_clones(store: Store, home: Path) -> None:
    """Delete the clones of removed sources, and temporary folders of killed processes."""
    kept = {
        clone_folder(home, row.info.key)
        for row in store.sources.all()
        if row.given or row.info.kind in ("git", addresses.PACKAGE)
    }
    clones = clones_path(home)
    for folder in sorted(clones.iterdir()) if clones.is_dir() else ():
        with suppress(FileNotFoundError):  # another process replaced it meanwhile
            # another process may have cloned a source that it has not written yet
            if folder not in kept and folder.name != PLACE and time.time() - folder.lstat().st_mtime > _HOUR_S:
                remove(folder)
    sweep(clones / "any")
