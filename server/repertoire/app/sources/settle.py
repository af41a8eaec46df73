"""Settles the graph after an ingest: catalogue entries, edges between sources, popularity and known combinations.

It imports nothing that reads sources, so that a first answer from the catalogue starts fast.
"""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from repertoire.app.clock import now
from repertoire.app.sources.catalogue_source import INFO as CATALOGUE
from repertoire.app.sources.catalogue_source import Place, records_of
from repertoire.app.sources.patterns import renew_patterns
from repertoire.app.sources.relate import relate
from repertoire.app.sources.soundness import note_departures
from repertoire.app.sources.unreachable import note_unread
from repertoire.catalogue import reading
from repertoire.domain.component import (
    DEPENDS_ON,
    MENTIONS,
    Edge,
    FileRecord,
    IngestReport,
    Skipped,
    SourceInfo,
    path_in,
)
from repertoire.domain.errors import StoreBusy
from repertoire.ingestion import popularity
from repertoire.ingestion.popularity import Carrier, stated_popularity
from repertoire.ports import Summary
from repertoire.sources import installed
from repertoire.sources.installed import Machine
from repertoire.store.database import Store

_COPIES = ("folder:", "archive:")  # how the keys of sources begin that may be a copy of a repository
_WARNINGS = 50  # warnings that one report lists
_BREATH_S = 0.002  # pause after each merge step, so that other processes get the lock


@dataclass(frozen=True)
class Step:
    """The progress of an ingest: `done` of `total`, which is 0 if the total is unknown."""

    source: str
    stage: str  # fetch | read | extract | write | relate | embed
    done: int = 0
    total: int = 0


Report = Callable[[Step], None]  # receives progress; an exception from it stops the ingest and rolls its write back


def quiet(_: Step) -> None:
    """Report no progress."""


def remove_vanished_sources(store: Store, machine: Machine, project: Path | None) -> list[IngestReport]:
    """Remove the sources of uninstalled plugins and of deleted marketplaces and projects; return a report for each."""
    here = {place.key for place in machine.places}
    reports = []
    for row in store.sources.all():
        of_client = row.info.kind in ("user", "plugin", "marketplace", "project")
        kept = row.info.key in here or row.given or not of_client  # what a person ingested is theirs to remove
        if row.info.kind == "project" and row.info.location != str(project):
            kept = installed.find_in_project(os.environ, row.info) is not None
        if not kept and row.info.key in machine.vanished:
            reason = f"Claude Code lists it, and nothing is at {row.info.location}"
            note_unread(store, row.info.key, reason)
            reports.append(unread_source_report(store, row.info.key, f"kept as it was: {reason}"))
        elif not kept:
            before = store.graph.summaries()
            store.sources.remove(row.info.key)
            note_departures(store, before)
            reports.append(
                IngestReport(row.info.key, 0, 0, 0, row.components, (), 0.0, ("it is no longer on this machine",))
            )
    return reports


def write_catalogue(store: Store, *, report: Report = quiet) -> IngestReport:
    """Bring the graph up to date with the shipped catalogue, without entries that ingested sources contain."""
    started = time.monotonic()
    report(Step(CATALOGUE.key, "read"))
    others = [row for row in store.graph.summaries() if row.source != CATALOGUE.key]
    records = records_of(
        reading.load(),
        known=frozenset(row.id for row in others),
        named=frozenset((row.repository, row.type, row.name) for row in others),
        copies=_copies(others),
        corrected=store.preferences.corrections(),
        installed=installed.look(os.environ, project=None).installed_plugins,
    )
    known = store.sources.file_hashes(CATALOGUE.key)
    if {record.path: record.content_hash for record in records} == known:
        store.sources.seen(CATALOGUE.key, now=now())
        return ingest_report(store, CATALOGUE.key, (0, 0), [], started)
    report(Step(CATALOGUE.key, "write", 0, len(records)))
    return ingest_report(store, CATALOGUE.key, write_records(store, CATALOGUE, records, (), known), [], started)


def _copies(rows: Iterable[Summary]) -> Iterable[frozenset[Place]]:
    """Return the paths, types and names of each folder or archive that tells no repository and may be a copy of one."""
    found: dict[str, set[Place]] = {}
    for row in rows:
        if not row.repository and row.source.startswith(_COPIES):
            found.setdefault(row.source, set()).add((path_in(row.source, row.id), row.type, row.name))
    return map(frozenset, found.values())


def write_records(
    store: Store,
    info: SourceInfo,
    records: list[FileRecord] | tuple[FileRecord, ...],
    derived: tuple[Edge, ...],
    known: Mapping[str, str],
    *,
    known_as: str = "",
) -> tuple[int, int]:
    """Write a source's changed records and delete missing ones; return how many components changed and went.

    Raises:
        SourceForgotten: it was `known_as` this key, and nobody knows that any more.
    """
    changed = [record for record in records if known.get(record.path) != record.content_hash]
    gone = set(known) - {record.path for record in records}
    written = store.sources.write(info, changed, sorted(gone), derived=derived, now=now(), known_as=known_as)
    return written.changed, written.removed


def unread_source_report(store: Store, source: str, warning: str) -> IngestReport:
    """Return the report of a source that could not be read and keeps its components."""
    return ingest_report(store, source, (0, 0), [warning], time.monotonic())


def ingest_report(
    store: Store, source: str, counts: tuple[int, int], warnings: list[str], started: float
) -> IngestReport:
    """Return the report of an ingested source; `counts` are its changed and removed components."""
    total = next((row.components for row in store.sources.all() if row.info.key == source), 0)
    shown = warnings[:_WARNINGS]
    if len(warnings) > _WARNINGS:
        shown = [*shown, f"{len(warnings) - _WARNINGS} more files were read with warnings"]
    return IngestReport(
        source=source,
        components=total,
        changed=counts[0],
        unchanged=total - counts[0],
        removed=counts[1],
        skipped=tuple(Skipped(path, reason) for path, reason in store.sources.skipped(source)),
        seconds=round(time.monotonic() - started, 3),
        warnings=tuple(shown),
    )


def remove_source(store: Store, source: str) -> bool:
    """Remove a source with its components, and settle the graph; return whether the source existed."""
    before = store.graph.summaries()
    found = store.sources.remove(source)
    if found:
        note_departures(store, before)
        settle(store)
        store.backup.write(now=now())
    return found


def settle(store: Store, *, report: Report = quiet) -> None:
    """Bring up to date what depends on all sources: catalogue entries, edges between them, popularity, patterns."""
    report(Step("", "relate"))
    if any(row.info.key == CATALOGUE.key for row in store.sources.all()):
        write_catalogue(store)
    unsettled = store.sources.unsettled()
    renew_patterns(store)
    relate(store, tick=lambda: report(Step("", "relate")))
    store.sources.set_popularity(popularity.popularity(_carriers(store), _named(store)))
    if unsettled:
        store.sources.settled(unsettled)
    _merge_text(store, report)


def _merge_text(store: Store, report: Report) -> None:
    """Merge the segments of the full-text index; a later call continues an interrupted merge."""
    with contextlib.suppress(StoreBusy):
        while store.text.merge():
            report(Step("", "relate"))
            time.sleep(_BREATH_S)


def _carriers(store: Store) -> list[Carrier]:
    return [
        Carrier(row.node_id, row.type, row.name, row.source, stated_popularity(row.front_matter))
        for row in store.graph.outlines()
    ]


def _named(store: Store) -> dict[int, float]:
    """Map each node id to the summed weight of the edges by which others mention or need the component."""
    topology = store.graph.topology()
    found: dict[int, float] = {}
    for target, relation, weight in zip(topology.target, topology.relation, topology.weight, strict=True):
        if relation in (DEPENDS_ON, MENTIONS):
            node_id = int(topology.ids[target])
            found[node_id] = found.get(node_id, 0.0) + float(weight)
    return found
