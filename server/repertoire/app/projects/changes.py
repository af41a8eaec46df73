"""Finds what changed in a project since its memory last read it, and follows files that were renamed."""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field

from repertoire.app.projects.named_files import lies_in
from repertoire.app.projects.queues import queue_of
from repertoire.app.projects.reading import read_file
from repertoire.domain.project import LINES, MODULE, Item, KnownFile, ReadFile, section_key, symbol_key
from repertoire.sources import crawl
from repertoire.sources.crawl import FoundFile
from repertoire.store.project_file import ProjectStore
from repertoire.store.project_texts import first_line

_FEW = 50  # new and vanished files among which renamed ones are looked for
_PARTS = 500  # definitions and sections of a file that are compared
_RENAMED = 0.5  # share of common parts above which a file is a renamed one


@dataclass(frozen=True)
class Listed:
    """The files of a project that were looked at; `among`: the paths that were named, None if all files were."""

    files: Sequence[FoundFile]
    refused: Mapping[str, str]  # reasons
    among: Collection[str] | None


@dataclass
class Changes:
    """The difference between a project's files and what its memory knows."""

    changed: list[FoundFile]
    gone: list[str]
    same: dict[str, str]  # reasons why files whose bytes are known were not read
    known: dict[str, KnownFile]
    moved: set[str] = field(default_factory=set)  # new paths of renamed files

    def of(self, queue: str) -> tuple[list[FoundFile], list[str]]:
        """Return the changed and the vanished files of one queue."""
        changed = [one for one in self.changed if queue_of(one.path) == queue]
        return changed, [path for path in self.gone if queue_of(path) == queue]


def changes_of(memory: ProjectStore, listed: Listed, queues: Collection[str]) -> Changes:
    """Compare the files of a project that were looked at with what the memory knows of them, in some queues.

    What lies in a folder that cannot be read now is as it was.
    """
    among, unread = listed.among, [path for path, why in listed.refused.items() if why.startswith(crawl.UNREADABLE)]
    known = {path: one for path, one in memory.known(among).items() if queue_of(path) in queues}
    left, before = {**known}, memory.skipped()
    changed, same = list[FoundFile](), dict[str, str]()
    for entry in listed.files:
        if queue_of(entry.path) not in queues:
            continue
        old = left.pop(entry.path, None)
        if old is None or not _is_same(entry, old):
            changed.append(entry)
        elif entry.path in before:
            same[entry.path] = before[entry.path]
    gone = [path for path in left if (among is None or lies_in(path, among)) and not lies_in(path, unread)]
    return Changes(changed, gone, same, known)


def follow_renames(memory: ProjectStore, found: Changes) -> None:
    """Give what is known of a vanished file to a new one with the same content, or mostly the same names."""
    _follow_copies(memory, found)
    _follow_edited(memory, found)


def _follow_copies(memory: ProjectStore, found: Changes) -> None:
    lost = {found.known[path].content_hash: path for path in found.gone if found.known[path].content_hash}
    sizes = {found.known[path].size for path in lost.values()}
    for entry in found.changed:
        if not lost or entry.path in found.known or entry.size not in sizes:
            continue
        data = crawl.read(entry)
        digest = hashlib.sha256(data).hexdigest() if isinstance(data, bytes) else ""
        if digest in lost:
            old = lost.pop(digest)
            memory.move(old, entry.path)
            found.gone.remove(old)
            found.moved.add(entry.path)


def _follow_edited(memory: ProjectStore, found: Changes) -> None:
    """Follow files that were edited where they were renamed: a move that corrects an import is the usual one."""
    new = [one for one in found.changed if one.path not in found.known and one.path not in found.moved]
    if not new or max(len(new), len(found.gone)) > _FEW:  # each is read for it
        return
    names = {one.path: _parts(read_file(one)[0]) for one in new if found.gone}
    for old in [*found.gone]:
        own = {_told(one.key.partition(old)[2], one.line, one.start, one.end) for one in _held(memory, old)}
        alike = {path: len(own & other) / len(own | other) for path, other in names.items() if own | other}
        best = max(alike, key=alike.__getitem__, default="")
        if alike.get(best, 0.0) > _RENAMED:
            memory.move(old, best)
            found.gone.remove(old)
            found.moved.add(best)
            del names[best]


def _held(memory: ProjectStore, path: str) -> list[Item]:
    return memory.items.in_file(path, limit=_PARTS)


def _parts(file: ReadFile) -> set[str]:
    """Return what tells the parts of a file apart: name, first line and length of definitions and of sections."""
    symbols = (one for one in file.symbols if one.kind not in (MODULE, LINES))
    return {
        *(_told(symbol_key("", one.qualname)[len("symbol:") :], one.signature, one.start, one.end) for one in symbols),
        *(
            _told(section_key("", one.anchor)[len("section:") :], first_line(one), one.start, one.end)
            for one in file.sections
        ),
    }


def _told(name: str, line: str, start: int, end: int) -> str:
    return f"{name} {line} {end - start}"


def _is_same(entry: FoundFile, old: KnownFile) -> bool:
    return crawl.changed_at(entry.location.stat()) == old.mtime and entry.size == old.size
