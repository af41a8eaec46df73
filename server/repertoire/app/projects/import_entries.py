"""Takes entries from files in the formats of others into a project's memory, each once, and again where it changed."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain, product
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
    list_of,
    read_entries,
)
from repertoire.app.projects.shelf import OpenProject
from repertoire.domain.errors import InvalidRequest
from repertoire.domain.project import BLOCKS, CLOSED, ENTRIES, TASK, Entry
from repertoire.domain.text import content_words, with_pairs
from repertoire.ports import Embedder
from repertoire.sources import crawl
from repertoire.sources.crawl import CrawlLimits, FoundFile, Mount
from repertoire.store.stemming import stems

SOURCE, DIGEST = "source", "source_digest"  # fields of an entry: where it came from, and what it was there
_LIMITS = CrawlLimits(files=5_000, depth=12, text_bytes=50_000_000)
_ALIKE = 0.6  # of the words of two items: where both have so many, the one is the other in other words
_MOST_PAIRS = 2_000  # of an item that is gone and a new one that are compared: a list with more is another list
_USUAL = ("CLAUDE.md", "AGENTS.md", "TODO.md", "TODO.txt", "TODO", ".beads")  # in a project's folder


@dataclass(frozen=True)
class ImportRequest:
    """Files and folders to import from, none for the usual ones, and their format if their names do not tell it."""

    paths: tuple[str, ...] = ()
    form: str = ""


@dataclass
class ImportReport:
    """What an import did: titles of new, changed and reworded entries, how many were there, and what was left out."""

    added: list[str] = field(default_factory=list)
    changed: list[str] = field(default_factory=list)
    reworded: dict[str, tuple[str, str]] = field(default_factory=dict)  # titles before and now, by ids
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
    reworded = _reworded(_known(project), found, lists)
    with project.store.transaction():
        known = _known(project)
        for source, entry in _gone(known, found, lists).items():
            if source not in reworded.values():
                report.skipped[source] = f"its item is gone from {list_of(source)}; {entry.key} is still {entry.status}"
        known |= {new: known[old] for new, old in reworded.items() if old in known and new not in known}
        keys = {name: entry.key for name, entry in known.items()}
        for one in found:
            before = known.get(one.source)
            if before is not None and one.is_as(before.data.get(DIGEST)):
                report.same += 1
            else:
                keys[one.source] = _take(project, one, before, embedder, report)
            keys.update(dict.fromkeys(filter(None, one.names), keys.get(one.source, "")))
        for one in found:
            _link(project, one, keys, report)
    back_up(project)
    return report


def _known(project: OpenProject) -> dict[str, Entry]:
    return {str(one.data[SOURCE]): one for one in project.store.entries.all(ENTRIES) if one.data.get(SOURCE)}


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
        if listing.truncated:
            report.skipped[prefix or "."] = listing.truncated
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


def _reworded(known: Mapping[str, Entry], found: Sequence[ForeignEntry], lists: Collection[str]) -> dict[str, str]:
    """Map the new items of lists to the sources of open tasks whose items are gone, where only these two are alike."""
    before, after = (defaultdict[str, dict[str, frozenset[str]]](dict) for _ in range(2))  # words by lists and sources
    for source, entry in _gone(known, found, lists).items():
        before[list_of(source)][source] = _words(entry)
    for one in found:
        if one.source not in known and (path := list_of(one.source)) in before:
            after[path][one.source] = _words(one)
    alike = list[tuple[str, str]]()
    for path, items in after.items():
        if len(items) * len(before[path]) <= _MOST_PAIRS:
            pairs = product(items.items(), before[path].items())
            alike.extend((new, old) for (new, now), (old, was) in pairs if _are_alike(now, was))
    times = Counter(chain(*alike))
    return {new: old for new, old in alike if times[new] == times[old] == 1}


def _gone(known: Mapping[str, Entry], found: Sequence[ForeignEntry], lists: Collection[str]) -> dict[str, Entry]:
    """Return the open tasks whose items are in their lists no more, by their sources."""
    there = {one.source for one in found}
    return {
        source: entry
        for source, entry in known.items()
        if source not in there and entry.kind == TASK and entry.status not in CLOSED and list_of(source) in lists
    }


def _words(one: Entry | ForeignEntry) -> frozenset[str]:
    return frozenset(stems(" ".join(content_words(with_pairs(one.title)))))


def _are_alike(one: frozenset[str], other: frozenset[str]) -> bool:
    return len(one & other) >= max(1, _ALIKE * len(one | other))


def _take(
    project: OpenProject, one: ForeignEntry, before: Entry | None, embedder: Embedder | None, report: ImportReport
) -> str:
    key = before.key if before else ""
    data = {**one.data, SOURCE: one.source, DIGEST: one.digest}
    body = "\n".join(filter(None, (one.body, one.context)))
    asked = SaveRequest(
        "" if key else one.kind, key, one.title, body, one.tags, one.status, one.priority, data, apart=not key
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
    if before is not None and before.title != entry.title:
        report.reworded[entry.key] = (before.title, entry.title)
    return entry.key


def _link(project: OpenProject, one: ForeignEntry, keys: Mapping[str, str], report: ImportReport) -> None:
    for relation, target in (*one.links, *([(BLOCKS, one.holds_up)] if one.holds_up else [])):
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
