"""Reads a source into the graph: one transaction a source, only what changed, and nothing at all where nothing did."""

from __future__ import annotations

import contextlib
import hashlib
import os
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from repertoire.app.catalogue_source import INFO as CATALOGUE
from repertoire.app.catalogue_source import records_of
from repertoire.app.clock import now
from repertoire.app.lost import note_moved, note_read, note_unread
from repertoire.app.opening import Opened, Surroundings, open_address, open_place
from repertoire.app.patterns import renew_patterns
from repertoire.app.processor import at_most
from repertoire.app.project import project_folder
from repertoire.app.relate import relate
from repertoire.app.soundness import note_departures
from repertoire.app.vocabulary import vocabulary_of
from repertoire.catalogue import reading
from repertoire.domain.component import DEPENDS_ON, MENTIONS, Edge, FileRecord, IngestReport, Skipped, SourceInfo
from repertoire.domain.errors import StoreBusy
from repertoire.ingestion import extract as extraction
from repertoire.ingestion import standing
from repertoire.ingestion.extract import PARTS, Plan
from repertoire.ingestion.ground import Checks, Ground, fingerprint
from repertoire.ingestion.manifests import stated_popularity
from repertoire.ingestion.parts import SourceFile
from repertoire.ingestion.standing import Carrier
from repertoire.settings import Settings
from repertoire.sources import address as addresses
from repertoire.sources import crawl, installed
from repertoire.sources.installed import Machine, Place
from repertoire.store.database import Store
from repertoire.trust.scan import RULES_VERSION, is_checked, scan

WHOLE = "."  # the record that stands for a source as a whole: its hash tells whether anything has to be done
_WARNINGS = 50
_A_FILE_S = 15.0  # of processor time; the slowest of 6,800 real components takes half a second
_BREATH_S = 0.002  # as long as a step: whoever waits for the lock finds it free at every other look


@dataclass(frozen=True)
class Step:
    """How far an ingest is: `done` of `total`, which is 0 where it cannot be told."""

    source: str
    stage: str  # fetch | read | extract | write | relate | embed
    done: int = 0
    total: int = 0


Report = Callable[[Step], None]  # what it raises stops the ingest, and nothing half-written remains


def quiet(_: Step) -> None:
    """Tell nobody."""


def ingest(
    store: Store, home: Path, source: str, *, settings: Settings, trusted: bool = True, report: Report = quiet
) -> tuple[IngestReport, ...]:
    """Read what an address names, or `installed` (many sources), or `catalogue`; return what each of them came to.

    `trusted` is False where a model named the source: private hosts and folders outside the project are refused then.

    Raises:
        SourceError: it cannot be read, or (SourceRefused) must not be read from here.
    """
    project = project_folder()
    address = addresses.parse(source, trusted=trusted, project=project)
    machine = installed.look(os.environ, project=project)
    around = Surroundings(home, settings, machine)
    if address.kind == addresses.CATALOGUE:
        reports = [write_catalogue(store, report=report)]
    elif address.kind == addresses.INSTALLED:
        reports = [_write_place(store, place, around, report) for place in machine.places]
        reports += drop_what_left(store, machine, project)
    else:
        opened = open_address(address, around, tick=lambda: report(Step(address.key, "fetch")))
        reports = [write_source(store, opened, report=report)]
        note_opened(store, opened)
    if store.sources.unsettled():  # by this ingest, or by one that was killed before it was done
        settle(store, report=report)
    return tuple(reports)


def note_opened(store: Store, opened: Opened) -> None:
    """Note that a source was read, and where it has moved to if it has; nothing of one that was not asked for."""
    if opened.as_kept:
        return
    if opened.moved:
        note_moved(store, opened.info.key, opened.moved)
    else:
        note_read(store, opened.info.key)


def _write_place(store: Store, place: Place, around: Surroundings, report: Report) -> IngestReport:
    done = write_source(store, open_place(place, around), report=report)
    note_read(store, place.key)
    return done


def drop_what_left(store: Store, machine: Machine, project: Path | None) -> list[IngestReport]:
    """Forget the sources that are on this machine no more: plugins uninstalled, marketplaces and projects gone."""
    here = {place.key for place in machine.places}
    reports = []
    for row in store.sources.all():
        kept = row.info.key in here or row.info.kind not in ("user", "plugin", "marketplace", "project")
        if row.info.kind == "project" and row.info.key != f"project:{project}":
            kept = Path(row.info.location).is_dir()
        if not kept and row.info.key in machine.vanished:
            reason = f"Claude Code lists it, and nothing is at {row.info.location}"
            note_unread(store, row.info.key, reason)
            reports.append(keep_source(store, row.info.key, f"kept as it was: {reason}"))
        elif not kept:
            before = store.graph.summaries()
            store.sources.remove(row.info.key)
            note_departures(store, before)
            reports.append(IngestReport(row.info.key, 0, 0, 0, row.components, (), 0.0, ("it is here no more",)))
    return reports


def write_source(store: Store, opened: Opened, *, report: Report = quiet) -> IngestReport:
    """Bring the graph up to date with one source; a folder that it was unpacked to goes."""
    with opened.scratch or contextlib.nullcontext():
        return _write_source(store, opened, report)


def _write_source(store: Store, opened: Opened, report: Report) -> IngestReport:
    started = time.monotonic()
    info = opened.info
    report(Step(info.key, "read"))
    listing = crawl.walk(opened.mounts, limits=opened.limits)
    entries = {entry.path: entry for entry in listing.entries}
    plan = extraction.plan([*entries, *(path for path in opened.documents if path not in entries)], opened.layout)
    files, unread = read_files(
        entries, opened.documents, plan, lambda done, total: report(Step(info.key, "read", done, total))
    )
    unread.update({refused.path: refused.reason for refused in listing.refused if not refused.folder})
    unread.update({path: reason for path, reason in opened.refused.items() if path not in files})
    ground = ground_of(store, opened, entries)
    state = fingerprint(ground, [*((path, file.digest) for path, file in files.items()), *sorted(unread.items())])
    warnings = [*opened.warnings, *([listing.truncated] if listing.truncated else [])]
    known = store.sources.file_hashes(info.key)
    if known.get(WHOLE) == state:
        store.sources.seen(info.key, now=now())
        return _told(store, info.key, (0, 0), warnings, started)
    report(Step(info.key, "extract", 0, len(files)))
    found = extraction.extract(files, unread, plan, ground)
    folders = [
        FileRecord(refused.path, refused.reason, skipped=refused.reason)
        for refused in listing.refused
        if refused.folder
    ]
    records = [*found.records, *folders, FileRecord(WHOLE, state)]
    report(Step(info.key, "write", 0, len(records)))
    before = store.graph.summaries()
    counts = _write(store, info, records, found.derived, known)
    note_departures(store, before)
    return _told(store, info.key, counts, [*warnings, *found.warnings], started)


def write_catalogue(store: Store, *, report: Report = quiet) -> IngestReport:
    """Bring the graph up to date with the starter catalogue, but for what other sources have read for real."""
    started = time.monotonic()
    report(Step(CATALOGUE.key, "read"))
    others = [row for row in store.graph.summaries() if row.source != CATALOGUE.key]
    records = records_of(
        reading.load(),
        known=frozenset(row.id for row in others),
        named=frozenset((row.repository, row.type, row.name) for row in others),
        corrected=store.preferences.corrections(),
    )
    known = store.sources.file_hashes(CATALOGUE.key)
    if {record.path: record.content_hash for record in records} == known:
        store.sources.seen(CATALOGUE.key, now=now())
        return _told(store, CATALOGUE.key, (0, 0), [], started)
    report(Step(CATALOGUE.key, "write", 0, len(records)))
    return _told(store, CATALOGUE.key, _write(store, CATALOGUE, records, (), known), [], started)


def ground_of(store: Store, opened: Opened, entries: Mapping[str, crawl.Entry]) -> Ground:
    """Return what is known about a source beside its files."""
    prefix = f"{opened.info.key}:"
    return Ground(
        info=replace(opened.info, commit=""),  # a commit that changes no file changes nothing
        site=opened.site,
        layout=opened.layout,
        vocabulary=vocabulary_of(reading.load()),
        corrections={key: terms for key, terms in store.preferences.corrections().items() if key.startswith(prefix)},
        dates=opened.history.dates,
        dates_are_exact=opened.history.exact,
        installed=opened.installed,
        checks=Checks(scan, lambda part: _part(entries[part]), RULES_VERSION),
        bounded=partial(at_most, _A_FILE_S),
        known=store.sources.file_hashes(opened.info.key),
    )


def _part(entry: crawl.Entry) -> str | None:
    """Return the text of a part that is checked; None for a program that cannot be read."""
    if not is_checked(entry.path):
        return ""
    data = crawl.read(entry)
    if isinstance(data, str) or b"\x00" in data:
        return None
    return data.decode("utf-8", "replace")  # one bad byte must not hide the rest


def read_files(
    entries: Mapping[str, crawl.Entry], documents: Mapping[str, str], plan: Plan, tell: Callable[[int, int], None]
) -> tuple[dict[str, SourceFile], dict[str, str]]:
    """Read the files of a plan; return them, and the reasons for those that were not."""
    files: dict[str, SourceFile] = {}
    unread: dict[str, str] = {}
    room = crawl.Limits().text_bytes
    for number, path in enumerate(plan.read):
        if number % 100 == 0:
            tell(number, len(plan.read))
        if path in documents:
            data: bytes | str = documents[path].encode("utf-8", "replace")
        else:
            data = crawl.read(entries[path]) if room > 0 else "the source holds more text than is read"
        text = crawl.decode(data) if isinstance(data, bytes) else None
        if isinstance(data, str) or text is None:
            unread[path] = data if isinstance(data, str) else "not UTF-8 text"
            continue
        room -= len(data)
        files[path] = SourceFile(path, text, _digest(data, path, entries, plan))
    return files, unread


def _digest(data: bytes, path: str, entries: Mapping[str, crawl.Entry], plan: Plan) -> str:
    own = hashlib.sha256(data)
    for part in plan.parts.get(path, ())[:PARTS]:
        own.update(f"\0{part}\0{crawl.digest(entries[part])}".encode("utf-8", "replace"))
    return own.hexdigest()


def _write(
    store: Store,
    info: SourceInfo,
    records: list[FileRecord] | tuple[FileRecord, ...],
    derived: tuple[Edge, ...],
    known: Mapping[str, str],
) -> tuple[int, int]:
    changed = [record for record in records if known.get(record.path) != record.content_hash]
    gone = set(known) - {record.path for record in records}
    written = store.sources.write(info, changed, sorted(gone), derived=derived, now=now())
    return written.changed, written.removed


def keep_source(store: Store, source: str, warning: str) -> IngestReport:
    """Report a source that could not be read and stays as it was."""
    return _told(store, source, (0, 0), [warning], time.monotonic())


def _told(store: Store, source: str, counts: tuple[int, int], warnings: list[str], started: float) -> IngestReport:
    total = next((row.components for row in store.sources.all() if row.info.key == source), 0)
    shown = warnings[:_WARNINGS]
    if len(warnings) > _WARNINGS:
        shown = [*shown, f"{len(warnings) - _WARNINGS} more files were read with something tolerated"]
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
    """Forget a source with exactly what it brought; tell whether there was one."""
    before = store.graph.summaries()
    found = store.sources.remove(source)
    if found:
        note_departures(store, before)
        settle(store)
    return found


def settle(store: Store, *, report: Report = quiet) -> None:
    """Bring up to date what only all sources show: the catalogue's share, alternatives, popularity, patterns."""
    report(Step("", "relate"))
    if any(row.info.key == CATALOGUE.key for row in store.sources.all()):
        write_catalogue(store)
    unsettled = store.sources.unsettled()
    renew_patterns(store)
    relate(store, tick=lambda: report(Step("", "relate")))
    store.sources.set_popularity(standing.popularity(_carriers(store), _named(store)))
    if unsettled:
        store.sources.settled(unsettled)
    _merge_text(store, report)


def _merge_text(store: Store, report: Report) -> None:
    """Merge what was written into the full-text index; whoever settles next carries on from where this ended."""
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
    """Return how strongly each component is named or needed by others, by node id."""
    topology = store.graph.topology()
    found: dict[int, float] = {}
    for target, relation, weight in zip(topology.target, topology.relation, topology.weight, strict=True):
        if relation in (DEPENDS_ON, MENTIONS):
            node_id = int(topology.ids[target])
            found[node_id] = found.get(node_id, 0.0) + float(weight)
    return found
