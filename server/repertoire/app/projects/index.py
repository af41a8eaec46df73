"""Reads a project into its memory: what changed since the last time alone, and only after a person said so."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from repertoire.app.clock import now
from repertoire.app.projects.embed import embed_pending
from repertoire.app.projects.named_files import lies_in, named_files, say_all
from repertoire.app.projects.places import MIRROR_FOLDER, files_of, memory_file, refuse_no_project
from repertoire.app.projects.reading import read_file
from repertoire.app.projects.resolving import Concern, resolve_names
from repertoire.boot.filelock import only_one
from repertoire.domain.errors import StoreBusy
from repertoire.domain.project import KnownFile, ReadFile
from repertoire.ports import Embedder
from repertoire.projects.surface import noticed
from repertoire.sources import crawl
from repertoire.sources.crawl import CrawlLimits, FoundFile, Mount
from repertoire.sources.gitignore import GitIgnore
from repertoire.store.project_file import ProjectStore

Report = Callable[[str, int, int], None]  # a label, the amount done, and the total
_BATCH = 100  # files that are written in one transaction
_DEPTH = 40
_WAIT_S = 30
_FEW = 50  # changed files up to which it is found out who may notice what changed in each


@dataclass(frozen=True)
class Indexed:
    """What a reading changed: files by what became of them, and the texts that were embedded."""

    root: str
    read: int
    moved: int
    removed: int
    unchanged: int
    skipped: dict[str, str]
    embedded: int
    to_embed: int


@dataclass
class _Changes:
    """The difference between a project's files and what its memory knows."""

    changed: list[FoundFile]
    gone: list[str]
    same: dict[str, str]  # reasons why files whose bytes are known were not read
    unchanged: int
    known: dict[str, KnownFile]


@contextlib.contextmanager
def writing(memory: Path) -> Iterator[None]:
    """Let no other process read the project into this memory meanwhile.

    Raises:
        StoreBusy: another process does.
    """

    def wait(seconds: int) -> None:
        if seconds >= _WAIT_S:
            message = "another process is reading this project; wait until it has ended"
            raise StoreBusy(message)

    with only_one(memory.with_name(f"{memory.name}.lock"), wait):
        yield


def forget_memory(home: Path, root: str) -> list[Path]:
    """Delete the memory of a project with everything that was noted in it; return the deleted files."""
    files = files_of(memory_file(home, root))
    for path in files:
        path.unlink(missing_ok=True)
    return files


def begin_memory(home: Path, root: str, opening: Callable[[Path], ProjectStore]) -> Path:
    """Make the memory of a project, empty, unless it has one; return its file.

    Raises:
        ProjectRefused: the folder is no project.
    """
    refuse_no_project(root)
    file = memory_file(home, root)
    file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    with opening(file) as memory:
        if not memory.root():
            memory.begin(root, now=now())
    return file


def index_project(
    memory: ProjectStore,
    *,
    most_files: int,
    embedder: Embedder | None = None,
    report: Report = lambda *_: None,
    among: Collection[str] | None = None,
) -> Indexed:
    """Read what changed in a project, resolve its names, and embed what has no vector yet.

    With `among`, only these files are looked at, as long as they say all: a changed folder or `.gitignore` may concern
    others. An interruption loses nothing that was read before it.
    """
    root = Path(memory.root())
    with writing(memory.path):
        refuse_no_project(str(root))
        ignored = ignored_in(root, home=memory.path.parent.parent)
        if among is not None and say_all(root, among):
            entries, skipped = named_files(root, among, ignored), memory.skipped()
            skipped = {path: why for path, why in skipped.items() if path not in among}
        else:
            among = None
            listing = crawl.walk((Mount(root),), limits=CrawlLimits(files=most_files, depth=_DEPTH), ignored=ignored)
            entries, skipped = list(listing.entries), {item.path: item.reason for item in listing.refused}
            if listing.truncated:
                skipped["."] = listing.truncated
        whole = memory.is_unresolved()
        found = _changes(memory, entries, among)
        gone = {*found.gone}
        led = {} if whole else memory.programs().referring({*gone, *(entry.path for entry in found.changed)})
        done = _read_all(memory, found, skipped, report)
        memory.remove(found.gone, now=now())
        if whole or done.paths or gone:
            concern = Concern({*done.paths}, led, done.new | gone, done.noticed)
            resolve_names(memory, None if whole else concern, report=report)
        memory.finish(skipped, now=now())
        embedded, missing = embed_pending(memory, root, embedder, report=report) if embedder else (0, 0)
    return Indexed(str(root), len(done.paths), done.moved, len(found.gone), found.unchanged, skipped, embedded, missing)


def ignored_in(root: Path, *, home: Path) -> crawl.Ignored:
    """Return what tells whether a path is left out: by `.gitignore`, or as our own home or the memory's mirror."""
    by_patterns = GitIgnore(root)
    own = home.relative_to(root).as_posix() if home.is_relative_to(root) else None

    def ignored(path: str, folder: bool) -> bool:  # noqa: FBT001 - a predicate
        return path in {own, MIRROR_FOLDER} or by_patterns(path, folder)

    return ignored


def _changes(memory: ProjectStore, entries: Sequence[FoundFile], among: Collection[str] | None) -> _Changes:
    all_known, changed, same = memory.known(), list[FoundFile](), dict[str, str]()
    known, before = {**all_known}, memory.skipped()
    for entry in entries:
        old = known.pop(entry.path, None)
        if old is None or not _is_same(entry, old):
            changed.append(entry)
        elif entry.path in before:
            same[entry.path] = before[entry.path]
    if among is None:
        return _Changes(changed, [*known], same, len(entries) - len(changed), all_known)
    gone = [path for path in known if lies_in(path, among)]
    return _Changes(changed, gone, same, len(all_known) - len(changed) - len(gone), all_known)


def _is_same(entry: FoundFile, old: KnownFile) -> bool:
    return entry.location.stat().st_mtime_ns == old.mtime and entry.size == old.size


@dataclass
class _Done:
    paths: list[str]
    moved: int = 0
    new: set[str] = field(default_factory=set)
    noticed: dict[str, frozenset[str]] = field(default_factory=dict)  # by changed file, where not every name may be


def _read_all(memory: ProjectStore, found: _Changes, skipped: dict[str, str], report: Report) -> _Done:
    """Read the changed files into the memory, batch by batch."""
    known, done, waiting, touched = found.known, _Done([]), list[ReadFile](), dict[str, int]()
    programs = memory.programs()
    lost = {known[path].content_hash: path for path in found.gone if known[path].content_hash}
    skipped.update(found.same)
    for number, entry in enumerate(found.changed, 1):
        file, reason = read_file(entry)
        if reason:
            skipped[entry.path] = reason
        old = known.get(entry.path)
        if old is not None and old.content_hash and old.content_hash == file.content_hash:
            touched[entry.path] = file.mtime
            found.unchanged += 1
        else:
            if old is None and file.content_hash in lost:
                memory.move(lost[file.content_hash], entry.path)
                found.gone.remove(lost.pop(file.content_hash))
                done.moved += 1
            if old is None:
                done.new.add(entry.path)
            elif len(found.changed) <= _FEW:
                before = (programs.definitions(entry.path), programs.facts(entry.path))
                names = noticed(before, (file.symbols, file.facts))
                done.noticed.update({} if names is None else {entry.path: names})
            waiting.append(file)
        if len(waiting) == _BATCH or number == len(found.changed):
            memory.put(waiting, now=now())
            memory.touch(touched)
            done.paths.extend(one.path for one in waiting)
            waiting, touched = [], {}
        report("files", number, len(found.changed))
    return done
