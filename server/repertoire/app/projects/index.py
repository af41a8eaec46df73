"""Reads a project into its memory: what changed since the last time alone, and only after a person said so."""

from __future__ import annotations

import contextlib
from collections import deque
from collections.abc import Callable, Collection
from dataclasses import dataclass
from datetime import timedelta
from itertools import chain
from pathlib import Path

from repertoire.app.clock import ago, now
from repertoire.app.projects.changes import Listed, changes_of, follow_renames
from repertoire.app.projects.embed import embed_pending
from repertoire.app.projects.entry_texts import texts_of_entry
from repertoire.app.projects.left_out import LeftOut
from repertoire.app.projects.named_files import named_files, say_all
from repertoire.app.projects.places import files_of, memory_file, refuse_no_project, set_aside_of, still_there
from repertoire.app.projects.queues import QUEUES, VECTORS, WAIT_S, held
from repertoire.app.projects.turns import Reading, Report
from repertoire.ports import Embedder
from repertoire.projects.languages import READ_BY_RULES, READING_RULES
from repertoire.retrieval.translation_dictionary import dictionaries_digest
from repertoire.sources import crawl
from repertoire.sources.crawl import CrawlLimits, Mount
from repertoire.store.project_file import ProjectStore

_DEPTH = 40
_GRACE = timedelta(days=30)  # in which what is gone may come back: by a rename, another branch
_ENDED = object()


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
    unlinked: int = 0  # links with what went long ago


@dataclass(frozen=True)
class ForgottenMemory:
    """What was deleted: files, and how many memories, of which all but one had been set aside."""

    files: int
    memories: int


def forget_memory(home: Path, root: str) -> ForgottenMemory:
    """Delete the memory of a project with everything that was noted in it, and those of its folder set aside before."""
    memory = memory_file(home, root)
    found = [files for one in (memory, *set_aside_of(memory)) if (files := files_of(one))]
    for path in chain(*found):
        path.unlink(missing_ok=True)
    return ForgottenMemory(sum(map(len, found)), len(found))


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


def index_project(  # noqa: PLR0913 - what is read, and how
    memory: ProjectStore,
    *,
    most_files: int,
    embedder: Embedder | None = None,
    report: Report = lambda *_: None,
    among: Collection[str] | None = None,
    queues: Collection[str] = QUEUES,
    wait_s: float = WAIT_S,
    waiting: Callable[[], object] = lambda: None,
    between: Callable[[], object] = lambda: None,
) -> Indexed:
    """Read what changed in a project, resolve its names, and embed what has no vector yet.

    Documents, programs and other files are queues that take turns, batch by batch, and are locked each by itself: a
    document waits for no program, neither here nor in another process. `between` is called after each batch,
    `waiting` again and again while another process reads or embeds the same. With
    `among`, only these files are looked at, as long as they say all: a changed folder or `.gitignore` may concern
    others. An interruption loses nothing that was read before it.

    Raises:
        StoreBusy: another process reads one of the queues, and did not end within the time to wait.
        MemoryGone: somebody forgot the project meanwhile.
    """
    root, refuse_gone = Path(memory.root()), still_there(memory.path)
    with contextlib.ExitStack() as locks:
        of_queue = {one: locks.enter_context(contextlib.ExitStack()) for one in QUEUES if one in queues}
        for queue, lock in of_queue.items():
            lock.enter_context(held(memory.path, queue, wait_s=wait_s, waiting=waiting))
        refuse_no_project(str(root))
        listed = _listed(memory, most_files, among)
        if listed.among is None and not memory.is_read_with(dictionaries_digest()):
            _translate_again(memory)
        if listed.among is None:
            memory.read_again(READING_RULES, READ_BY_RULES)
        found = changes_of(memory, listed, queues)
        follow_renames(memory, found)
        reading = Reading(memory, found, listed, report)
        turns = deque((queue, reading.of(queue)) for queue in of_queue)
        while turns:
            queue, steps = turns.popleft()
            if next(steps, _ENDED) is _ENDED:
                of_queue[queue].close()
            else:
                turns.append((queue, steps))
            between()
            refuse_gone()
    if memory.indexed_at() or {*queues} == {*QUEUES}:
        memory.finish(now=now())
    gone = memory.entries.unlink_gone(before=ago(_GRACE), now=now()) if listed.among is None else []
    embedded, missing = 0, 0
    if embedder is not None:
        with held(memory.path, VECTORS, wait_s=wait_s, waiting=waiting):
            embedded, missing = embed_pending(memory, root, embedder, report=report, between=refuse_gone)
    refuse_gone()
    counts = (len(reading.read), len(found.moved), len(found.gone), memory.file_count() - len(reading.read))
    return Indexed(str(root), *counts, reading.skipped, embedded, missing, len(gone))


def unread_files(memory: ProjectStore, *, most_files: int) -> int:
    """Count the files that changed, came or went since a memory read its project."""
    if not Path(memory.root()).is_dir():
        return 0
    found = changes_of(memory, _listed(memory, most_files, None), QUEUES)
    return len(found.changed) + len(found.gone)


def _translate_again(memory: ProjectStore) -> None:
    """Bring up to date what other dictionaries translated, or none: entries now, files when they are read next."""
    with memory.transaction():
        for key in memory.translate_again(dictionaries_digest()):
            if (entry := memory.entries.get(key)) is not None:
                memory.entries.put(entry, texts_of_entry(entry).values(), now=now())


def _listed(memory: ProjectStore, most_files: int, among: Collection[str] | None) -> Listed:
    """Find the files that were named, if they say all; else all files of the project."""
    root = Path(memory.root())
    ignored = LeftOut(root, home=memory.path.parent.parent)
    if among is not None and say_all(root, among):
        return Listed(named_files(root, among, ignored), {}, among)
    listing = crawl.walk((Mount(root),), limits=CrawlLimits(files=most_files, depth=_DEPTH), ignored=ignored)
    refused = {**{item.path: item.reason for item in listing.refused}, **ignored.repositories}
    if listing.truncated:
        refused["."] = f"{listing.truncated} (setting `max_files`)"
    return Listed(listing.entries, refused, None)
