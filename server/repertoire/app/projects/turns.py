"""Reads the changed files of each queue of a project into its memory, batch by batch, so that queues can take turns."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

from repertoire.app.clock import now
from repertoire.app.projects.changes import Changes, Listed
from repertoire.app.projects.queues import queue_of
from repertoire.app.projects.reading import read_file
from repertoire.app.projects.resolving import Concern, resolve_names
from repertoire.domain.project import CODE, ReadFile
from repertoire.projects.surface import noticed
from repertoire.sources.crawl import FoundFile
from repertoire.store.project_file import ProjectStore

Report = Callable[[str, int, int], None]  # a label, the amount done, and the total
_BATCH = 100  # files that are written in one transaction
_TURN_S = 0.5  # after which a batch is written though it has fewer files: other queues wait for their turn
_FEW = 50  # changed files up to which it is found out who may notice what changed in each


@dataclass
class _Done:
    read: list[str] = field(default_factory=list)
    new: set[str] = field(default_factory=set)
    noticed: dict[str, frozenset[str]] = field(default_factory=dict)  # by changed file, where not every name may be


class Reading:
    """One reading of a project: what its queues read, and what they did not read for which reason."""

    def __init__(self, memory: ProjectStore, found: Changes, listed: Listed, report: Report) -> None:
        self._memory, self._found, self._listed, self._report = memory, found, listed, report
        self._looked_at = 0
        self.read: list[str] = []
        self.skipped: dict[str, str] = {**listed.refused, **found.same}

    def of(self, queue: str) -> Iterator[None]:
        """Read the files of a queue, in order; it stops after each batch, until it is asked to go on."""
        memory, (changed, gone) = self._memory, self._found.of(queue)
        programs = queue == CODE
        whole = programs and memory.is_unresolved()
        led = memory.programs().referring({*gone, *(one.path for one in changed)}) if programs and not whole else {}
        done = _Done()
        for _ in self._files(changed, done, programs=programs):
            yield
        memory.remove(gone, now=now(), programs=programs)
        if whole or (programs and (done.read or gone)):
            concern = Concern({*done.read}, led, done.new.union(gone), done.noticed)
            yield from resolve_names(memory, None if whole else concern, report=self._report)
            memory.all_resolved()
        self._note_skipped(queue)

    def _files(self, changed: Sequence[FoundFile], done: _Done, *, programs: bool) -> Iterator[None]:
        memory, waiting, touched, began = self._memory, list[ReadFile](), dict[str, int](), time.monotonic()
        known, before = self._found.known, memory.skipped() if changed else {}
        for number, entry in enumerate(changed, 1):
            old = known.get(entry.path)
            file, reason = read_file(entry, known=old.content_hash if old and entry.path not in before else "")
            if reason:
                self.skipped[entry.path] = reason
            if old is not None and old.content_hash and old.content_hash == file.content_hash:
                touched[entry.path] = file.mtime
            else:
                if old is None:
                    done.new.add(entry.path)
                elif programs and len(changed) <= _FEW:
                    self._notice(file, done)
                waiting.append(file)
            last = number == len(changed)
            if last or len(waiting) == _BATCH or time.monotonic() - began > _TURN_S:
                reasons = {one.path: self.skipped[one.path] for one in waiting if one.path in self.skipped}
                memory.put(waiting, now=now(), reasons=reasons, programs=programs)
                memory.touch(touched)
                done.read.extend(one.path for one in waiting)
                self.read.extend(one.path for one in waiting)
                waiting, touched = [], {}
                yield
                began = time.monotonic()
            self._looked_at += 1
            self._report("files", self._looked_at, len(self._found.changed))

    def _notice(self, file: ReadFile, done: _Done) -> None:
        """Find out which names of a changed program others may notice."""
        stored = self._memory.programs()
        names = noticed((stored.definitions(file.path), stored.facts(file.path)), (file.symbols, file.facts))
        if names is not None:
            done.noticed[file.path] = names

    def _note_skipped(self, queue: str) -> None:
        """Record which files of a queue were not read and why, beside those of the other queues."""
        memory, among = self._memory, self._listed.among
        with memory.transaction():
            kept = {
                path: why
                for path, why in memory.skipped().items()
                if queue_of(path) != queue or (among is not None and path not in among)
            }
            memory.set_skipped({**kept, **{path: why for path, why in self.skipped.items() if queue_of(path) == queue}})
