"""Ingests sources: crawls, extracts and writes the changed files of each in one transaction."""

from __future__ import annotations

import contextlib
import hashlib
import os
import time
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path

from repertoire.app.clock import now
from repertoire.app.current_project import project_folder
from repertoire.app.sources.catalogue_source import shipped_wording
from repertoire.app.sources.cpu_limit import cpu_limit
from repertoire.app.sources.moved_files import follow_moves
from repertoire.app.sources.opening import OpenedSource, Surroundings, open_address, open_place
from repertoire.app.sources.settle import (
    Report,
    Step,
    ingest_report,
    quiet,
    remove_vanished_sources,
    settle,
    write_catalogue,
    write_records,
)
from repertoire.app.sources.soundness import note_departures
from repertoire.app.sources.unreachable import note_moved, note_read
from repertoire.app.sources.vocabulary import shipped_vocabulary
from repertoire.domain.component import Component, FileRecord, IngestReport, SourceInfo
from repertoire.domain.errors import SourceError, SourceRefused
from repertoire.ingestion import servers
from repertoire.ingestion.extract import PARTS, extract
from repertoire.ingestion.extraction_plan import ExtractionPlan, declaring, manifests_first, plan_extraction
from repertoire.ingestion.install import Site
from repertoire.ingestion.parts import SourceFile, SourceLayout
from repertoire.ingestion.source_context import SourceContext, StaticChecks, Translator, fingerprint
from repertoire.retrieval.translation import described_in_english
from repertoire.retrieval.translation_dictionary import dictionaries_digest
from repertoire.settings import Settings
from repertoire.sources import address as addresses
from repertoire.sources import crawl, installed
from repertoire.sources.installed import InstalledSource
from repertoire.store.database import Store
from repertoire.trust.redaction import SECRET, redact
from repertoire.trust.scan import RULES_VERSION, is_checked, scan

WHOLE = "."  # path of the record for a source as a whole, whose hash shows whether anything changed
_LFS = "version https://git-lfs.github.com/spec/"
_A_FILE_S = 15.0  # processor time for one file; the slowest of 6,800 real components takes half a second


def ingest(
    store: Store, home: Path, source: str, *, settings: Settings, trusted: bool = True, report: Report = quiet
) -> tuple[IngestReport, ...]:
    """Ingest the source at an address, or all `installed` ones, or the `catalogue`; return a report for each.

    `trusted` is False if a model named the source: then private hosts and folders outside the project are refused.

    Raises:
        SourceError: the source cannot be read, or (SourceRefused) must not be read from here.
    """
    project = project_folder()
    address = addresses.parse(source, trusted=trusted, project=project)
    machine = installed.look(os.environ, project=project)
    around = Surroundings(home, settings, machine)
    if address.kind == addresses.CATALOGUE:
        reports = [write_catalogue(store, report=report)]
    elif address.kind == addresses.INSTALLED:
        reports = [_write_place(store, place, around, report) for place in machine.places]
        reports += _given_back(store, around, report)
        reports += remove_vanished_sources(store, machine, project)
    else:
        opened = open_address(address, around, tick=lambda: report(Step(address.key, "fetch")))
        opened = _with_own_name(store, opened, trusted=trusted)
        reports = [write_source(store, opened, report=report)]
        note_opened(store, opened)
    if store.sources.unsettled():  # by this ingest, or by one that was killed before it was done
        settle(store, report=report)
    store.backup.write(now=now())
    return tuple(reports)


def _with_own_name(store: Store, opened: OpenedSource, *, trusted: bool) -> OpenedSource:
    """Return a source with a warning if it takes the place of what was fetched, whose name it only claims.

    A folder's own git settings say which repository it is a clone of, and whoever filled it wrote these.

    Raises:
        SourceRefused: a model named it.
    """
    info = opened.info
    before = next((row.info.kind for row in store.sources.all() if row.info.key == info.key), "")
    if info.kind != addresses.FOLDER or not info.repository or before == addresses.FOLDER:
        return opened
    catalogued = any(
        row.source == addresses.CATALOGUE and row.repository == info.repository for row in store.graph.summaries()
    )
    if not trusted and (before or catalogued):
        message = (
            f"{info.location} says of itself that it is {info.key}, which is known already; send that address, or a "
            "person can run `repertoire ingest` on the folder"
        )
        raise SourceRefused(message)
    if not before:
        return opened
    warning = (
        f"{info.key} was fetched before, and is read from {info.location} from now on, which says of itself that it is "
        f"a clone of it; `repertoire ingest https://{info.repository}` fetches it again"
    )
    return replace(opened, warnings=(*opened.warnings, warning))


def note_opened(store: Store, opened: OpenedSource) -> None:
    """Log that a source was fetched, and its new address if it moved; nothing for a clone that was not fetched."""
    if opened.as_kept:
        return
    if opened.moved:
        note_moved(store, opened.info.key, opened.moved)
    else:
        note_read(store, opened.info.key)


def _write_place(store: Store, place: InstalledSource, around: Surroundings, report: Report) -> IngestReport:
    done = write_source(store, open_place(place, around), report=report)
    note_read(store, place.key)
    return done


def _given_back(store: Store, around: Surroundings, report: Report) -> list[IngestReport]:
    """Read what a person ingested from there again where Claude Code's clone of it is gone; nothing is fetched."""
    here, reports = {place.key for place in around.machine.places}, []
    for row in store.sources.all():
        if row.given and row.info.key not in here:
            with contextlib.suppress(SourceError):  # its folder is gone: the next refresh fetches it, or tells it
                address = addresses.parse(row.given, trusted=True)
                opened = open_address(address, around, tick=lambda: None, fetch=False, fetch_packages=False)
                reports.append(write_source(store, opened, report=report))
    return reports


def write_source(store: Store, opened: OpenedSource, *, report: Report = quiet, known_as: str = "") -> IngestReport:
    """Bring the graph up to date with one opened source, and delete the folder that it was unpacked to.

    Raises:
        SourceForgotten: it was `known_as` this key, and somebody removed it before it was written.
    """
    with opened.scratch or contextlib.nullcontext():
        return _write_source(store, opened, report, known_as)


def _write_source(store: Store, opened: OpenedSource, report: Report, known_as: str) -> IngestReport:
    started = time.monotonic()
    info = opened.info
    report(Step(info.key, "read"))
    listing = crawl.walk(opened.mounts, limits=opened.limits, plugins=True)
    entries = {entry.path: entry for entry in listing.entries}
    plan = plan_of(opened, entries)
    files, unread = read_files(
        entries, opened.documents, plan, lambda done, total: report(Step(info.key, "read", done, total))
    )
    unread.update({refused.path: refused.reason for refused in listing.refused if not refused.folder})
    unread.update({path: reason for path, reason in opened.refused.items() if path not in files})
    context = context_of(store, opened, entries)
    state = fingerprint(context, [*((path, file.digest) for path, file in files.items()), *sorted(unread.items())])
    cut = [f"{listing.truncated} (setting `max_files`)"] if listing.truncated else []
    warnings = [*opened.warnings, *cut]
    known = store.sources.file_hashes(info.key)
    if known.get(WHOLE) == state:
        store.sources.seen(info.key, now=now())
        return ingest_report(store, info.key, (0, 0), warnings, started)
    report(Step(info.key, "extract", 0, len(files)))
    found = extract(files, unread, plan, context)
    folders = [
        FileRecord(refused.path, refused.reason, skipped=refused.reason)
        for refused in listing.refused
        if refused.folder
    ]
    records = [*found.records, *folders, FileRecord(WHOLE, state)]
    report(Step(info.key, "write", 0, len(records)))
    before = store.graph.summaries()
    counts = write_records(store, info, records, found.derived, known, known_as=known_as)
    follow_moves(store, info.key, before)
    note_departures(store, before)
    return ingest_report(store, info.key, counts, [*warnings, *found.warnings], started)


def content_now(store: Store, info: SourceInfo, root: Path, component: Component) -> str:
    """Return the content hash that a component would get if its source were read now from a folder, or nothing."""
    opened = OpenedSource(info, (crawl.Mount(root),), Site(), SourceLayout())
    entries = {entry.path: entry for entry in crawl.walk(opened.mounts, limits=opened.limits, plugins=True).entries}
    plan = replace(plan_of(opened, entries), read=tuple({component.path} & set(entries)))
    files, unread = read_files(entries, {}, plan, lambda _done, _total: None)
    records = extract(files, unread, plan, context_of(store, opened, entries)).records
    found = (one.content_hash for record in records for one in record.components if one.id == component.id)
    return next(found, "")


def plan_of(opened: OpenedSource, entries: Mapping[str, crawl.FoundFile]) -> ExtractionPlan:
    """Return which files of a source are read, those that its manifests point to among them."""
    paths = [*entries, *(path for path in opened.documents if path not in entries)]
    first = manifests_first(paths, opened.layout)
    manifests, _ = read_files(entries, opened.documents, first, lambda _done, _total: None)
    return plan_extraction(paths, declaring(manifests, opened.layout))


def context_of(store: Store, opened: OpenedSource, entries: Mapping[str, crawl.FoundFile]) -> SourceContext:
    """Return a source's context for extraction: layout, vocabulary, corrections, dates, checks and earlier hashes."""
    prefix = f"{opened.info.key}:"
    return SourceContext(
        info=replace(opened.info, commit=""),  # a commit that changes no file changes nothing
        site=opened.site,
        layout=opened.layout,
        vocabulary=shipped_vocabulary(),
        corrections={key: terms for key, terms in store.preferences.corrections().items() if key.startswith(prefix)},
        dates=opened.history.dates,
        dates_are_exact=opened.history.exact,
        installed=opened.installed,
        checks=StaticChecks(scan, lambda part: _part(entries[part]), RULES_VERSION, _redacted),
        translator=Translator(described_in_english, dictionaries_digest()),
        wording=shipped_wording(),
        overrides=opened.overrides,
        bounded=partial(cpu_limit, _A_FILE_S),
        known=store.sources.file_hashes(opened.info.key),
    )


def _redacted(text: str) -> str:
    """Return a text with the mark of what was left out in place of each secret; one without a secret is unchanged."""
    found = redact(text)
    return found.replace(SECRET, servers.HIDDEN) if SECRET in found else text


def _part(entry: crawl.FoundFile) -> str | None:
    """Return the text of a part for static checks, "" for one that they skip; None for an unreadable one."""
    if not is_checked(entry.path):
        return ""
    data = crawl.read(entry)
    if isinstance(data, str) or b"\x00" in data:
        return None
    return data.decode("utf-8", "replace")  # one bad byte must not hide the rest


def read_files(
    entries: Mapping[str, crawl.FoundFile],
    documents: Mapping[str, str],
    plan: ExtractionPlan,
    tell: Callable[[int, int], None],
) -> tuple[dict[str, SourceFile], dict[str, str]]:
    """Read the files of a plan; return their contents by path, and the reasons for unread files."""
    files: dict[str, SourceFile] = {}
    unread: dict[str, str] = {}
    room = crawl.CrawlLimits().text_bytes
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
        if text.startswith(_LFS):
            unread[path] = "a pointer of Git LFS, whose file was not fetched"
            continue
        room -= len(data)
        files[path] = SourceFile(path, text, _digest(data, path, entries, plan))
    return files, unread


def _digest(data: bytes, path: str, entries: Mapping[str, crawl.FoundFile], plan: ExtractionPlan) -> str:
    own = hashlib.sha256(data)
    for part in plan.parts.get(path, ())[:PARTS]:
        own.update(f"\0{part}\0{crawl.digest(entries[part])}".encode("utf-8", "replace"))
    return own.hexdigest()
