"""Keeps a project's memory up to date while its files change, in a process that ends with the one that started it."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from pathlib import Path
from threading import Event

from watchfiles import Change, watch

from repertoire.app.projects.embed import embed_pending
from repertoire.app.projects.index import Indexed, ignored_in, index_project
from repertoire.app.projects.named_files import is_read
from repertoire.boot.filelock import only_one
from repertoire.domain.errors import StoreBusy
from repertoire.ports import Embedder
from repertoire.store.project_file import ProjectStore

_GATHER_MS = 2_000  # longest time in which changes are one batch: a checkout writes thousands of files at once
_STEP_MS = 100  # without a change, after which a batch is read
_QUIET_MS = 2_000  # without a change, after which what was read is embedded
_TURN_S = 5.0  # between attempts to become the one process that watches
_MOST_TEXTS = 2_000  # without a vector that are embedded unasked; more are left to `project index`
_AT_ONCE = 256  # texts that are embedded before changes are looked at again

Told = Callable[[Indexed], None]


class _Ended(Exception):
    """The process is to end."""


class Watcher:
    """Reads a project's changes into its memory, batch by batch."""

    def __init__(
        self,
        memory: ProjectStore,
        *,
        most_files: int,
        embedder: Embedder | None = None,
        told: Told = lambda _: None,
        rest: Callable[[], object] = lambda: None,
    ) -> None:
        self._memory = memory
        self._root = Path(memory.root())
        self._most_files = most_files
        self._embedder = embedder
        self._told = told
        self._rest_too = rest
        self._ignored = ignored_in(self._root, home=memory.path.parent.parent)
        self._all = True  # the next reading looks at every file
        self._to_embed = True

    def run(self, stop: Event) -> None:
        """Read what changed since the last time, then each batch of changes as it happens, until `stop` is set.

        One process at a time watches a project: another waits until that one has ended. The end of the memory, when
        somebody forgets the project, ends this too.

        Raises:
            OSError: the operating system watches no more folders for this user.
        """

        def wait(_seconds: int) -> None:
            if stop.wait(_TURN_S):
                raise _Ended

        lock = self._memory.path.with_name(f"{self._memory.path.name}.watch")
        with contextlib.suppress(_Ended), only_one(lock, wait):
            self._read(set())
            for number, changed in enumerate(self._batches(stop)):
                if not self._memory.path.exists():
                    return
                # nothing is watched before the first batch: what changed after the reading above is found by all files
                self._all = self._all or number == 0
                if changed or self._all:
                    self._read(changed)
                else:
                    self._rest()

    def _batches(self, stop: Event) -> Iterator[set[str]]:
        """Yield the paths that changed together; an empty set where nothing changed for a while."""
        for changes in watch(
            self._root,
            watch_filter=self._is_wanted,
            debounce=_GATHER_MS,
            step=_STEP_MS,
            stop_event=stop,
            rust_timeout=_QUIET_MS,
            yield_on_timeout=True,
            raise_interrupt=False,
            ignore_permission_denied=True,
        ):
            yield {self._inside(path) for _, path in changes}

    def _is_wanted(self, _change: Change, path: str) -> bool:
        return Path(path).is_relative_to(self._root) and is_read(self._root, self._inside(path), self._ignored)

    def _inside(self, path: str) -> str:
        return Path(path).relative_to(self._root).as_posix().encode("utf-8", "replace").decode()

    def _read(self, changed: set[str]) -> None:
        if any(path.rpartition("/")[2] == ".gitignore" for path in changed):
            self._ignored = ignored_in(self._root, home=self._memory.path.parent.parent)
        among = None if self._all else changed
        try:
            done = index_project(self._memory, most_files=self._most_files, among=among)
        except StoreBusy:  # a person has it read; what changed meanwhile is found afterwards
            self._all = True
            return
        self._all, self._to_embed = False, True
        self._told(done)

    def _rest(self) -> None:
        """Embed what was read, some of it at once."""
        embedder = self._embedder
        if embedder is not None and self._to_embed:
            missing, _ = self._memory.missing_vectors(embedder.model)
            self._to_embed = 0 < missing <= _MOST_TEXTS
        if embedder is not None and self._to_embed:
            done, missing = embed_pending(self._memory, self._root, embedder, most=_AT_ONCE)
            self._to_embed = done > 0 and missing > 0
        self._rest_too()
