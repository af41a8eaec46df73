"""Takes entries from files in the formats of others into a project's memory, each once, and again where it changed."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from pathlib import Path

from repertoire.app.projects.entries import THERE, link_entries, save_entry
from repertoire.app.projects.entry_requests import LinkRequest, SaveRequest
from repertoire.app.projects.entry_writing import back_up
from repertoire.app.projects.foreign_entries import (
    BASIC_MEMORY,
    TO_DO,
    ForeignEntry,
    format_of,
    is_conflicting,
    read_entries,
)
from repertoire.app.projects.shelf import OpenProject
from repertoire.domain.errors import InvalidRequest
from repertoire.domain.project import CLOSED, ENTRIES, TASK, Entry
from repertoire.ports import Embedder
from repertoire.sources import crawl
from repertoire.sources.crawl import CrawlLimits, FoundFile, Mount

SOURCE, DIGEST = "source", "source_digest"  # fields of an entry: where it came from, and what it was there
_LIMITS = CrawlLimits(files=5_000, depth=12, text_bytes=50_000_000)
_ALIKE = 0.6  # of the letters of two items: from so many on, the one is the other in other words
_USUAL = ("CLAUDE.md", "AGENTS.md", "TODO.md", "TODO.txt", "TODO", ".beads")  # in a project's folder


@dataclass(frozen=True)
class ImportRequest:
    """Files and folders to import from, none for the usual ones, and their format if their names do not tell it."""

    paths: tuple[str, ...] = ()
    form: str = ""


@dataclass
class ImportReport:
    """What an import did: titles of new and changed entries, how many were there already, and what was left out."""

    added: list[str] = field(default_factory=list)
    changed: list[str] = field(default_factory=list)
    same: int = 0
    skipped: dict[str, str] = field(default_factory=dict)


def import_entries(
    project: OpenProject, paths: Sequence[str], *, form: str = "", embedder: Embedder | None = None
) -> ImportReport:
    """Take the entries of files and folders; without paths, of those that projects usually have.

    An entry that came from there before is changed only if it changed there.

    Raises:
        InvalidRequest: a path does not exist, or nothing is there to be taken.
    """
    report = ImportReport()
    files = list(_files(project, paths, form, report))
    if not files and not report.skipped:
        message = f"nothing to import: name files or folders; usual ones are {', '.join(_USUAL)}"
        raise InvalidRequest(message)
    found = [one for file, kind in files for one in _read(file, kind, report)]
    lists = {file.path for file, kind in files if kind == TO_DO and file.path not in report.skipped}
    with project.store.transaction():
        known = {str(one.data[SOURCE]): one for one in project.store.entries.all(ENTRIES) if one.data.get(SOURCE)}
        known = _followed(known, found, lists, report)
        keys = {name: entry.key for name, entry in known.items()}
        for one in found:
            before = known.get(one.source)
            if before is not None and before.data.get(DIGEST) == one.digest:
                report.same += 1
            else:
                keys[one.source] = _take(project, one, before.key if before else "", embedder, report)
            keys.update(dict.fromkeys(filter(None, one.names), keys.get(one.source, "")))
        for one in found:
            _link(project, one, keys, report)
    back_up(project)
    return report


def _files(
    project: OpenProject, paths: Sequence[str], form: str, report: ImportReport
) -> Iterator[tuple[FoundFile, str]]:
    root = Path(project.root)
    for name in paths or [name for name in _USUAL if (root / name).exists()]:
        path = Path(name) if Path(name).is_absolute() else root / name
        if not path.exists():
            message = f"{name} does not exist; name a file or folder, from {root} on"
            raise InvalidRequest(message)
        prefix = path.relative_to(root).as_posix() if path.is_relative_to(root) else path.name
        listing = crawl.walk((Mount(path, prefix),), limits=_LIMITS)
        report.skipped.update({item.path: item.reason for item in listing.refused})
        for entry in listing.entries:
            kind = form or format_of(entry.path)
            if kind == BASIC_MEMORY and not entry.path.endswith(".md"):
                kind = ""
            if kind:
                yield entry, kind


def _read(file: FoundFile, kind: str, report: ImportReport) -> Iterator[ForeignEntry]:
    data = crawl.read(file)
    text = crawl.decode(data) if isinstance(data, bytes) else None
    if text is None:
        report.skipped[file.path] = data if isinstance(data, str) else "it is no text in UTF-8"
        return
    if is_conflicting(text):
        report.skipped[file.path] = "it has marks of a conflict that git left: solve it, then import it again"
        return
    for one in read_entries(file.path, text, kind):
        if isinstance(one, str):
            report.skipped[file.path] = one
        else:
            yield one


def _followed(
    known: Mapping[str, Entry], found: Sequence[ForeignEntry], lists: Collection[str], report: ImportReport
) -> dict[str, Entry]:
    """Return known entries by their sources, with the open tasks of lists under the items that were reworded.

    Of a task whose item is in its list no more, and that no new item is like, a person has to say what became of it.
    """
    after, there = {**known}, {one.source for one in found}
    new = {one.source: one.title.lower() for one in found if one.source not in known}
    for source, entry in known.items():
        path = source.rpartition("#")[0]
        if path not in lists or source in there or entry.kind != TASK or entry.status in CLOSED:
            continue
        titles = {title: one for one, title in new.items() if one.startswith(f"{path}#")}
        alike = get_close_matches(entry.title.lower(), titles, n=1, cutoff=_ALIKE)
        if alike:
            new.pop(titles[alike[0]])
            after[titles[alike[0]]] = entry
        else:
            report.skipped[source] = f"its item is gone from {path}; the task {entry.key} is still {entry.status}"
    return after


def _take(project: OpenProject, one: ForeignEntry, key: str, embedder: Embedder | None, report: ImportReport) -> str:
    data = {**one.data, SOURCE: one.source, DIGEST: one.digest}
    asked = SaveRequest(
        "" if key else one.kind, key, one.title, one.body, one.tags, one.status, one.priority, data, apart=not key
    )
    try:
        saved = save_entry(project, asked, embedder=embedder)
    except InvalidRequest as error:
        report.skipped[one.source] = str(error)
        return key
    entry = saved.entries[0]
    if saved.what == THERE:  # another file says it too
        report.same += 1
    else:
        (report.changed if key else report.added).append(entry.title)
    return entry.key


def _link(project: OpenProject, one: ForeignEntry, keys: Mapping[str, str], report: ImportReport) -> None:
    for relation, target in one.links:
        ends = keys.get(one.source, ""), keys.get(target, "")
        if not all(ends) or ends[0] == ends[1]:
            report.skipped.setdefault(
                one.source, f"read, but not its link to {target}: nothing of that name came with it"
            )
            continue
        try:
            link_entries(project, LinkRequest(ends[0], relation, ends[1]))
        except InvalidRequest as error:
            report.skipped.setdefault(one.source, f"read, but not its link to {target}: {error}")
