"""Keeps a project's memory up to date while its files change, in a process that ends with the one that started it."""

from __future__ import annotations

import contextlib
import queue
import threading
from collections.abc import Callable, Collection
from pathlib import Path

from watchfiles import Change, watch

from repertoire.app.projects.embed import embed_pending
from repertoire.app.projects.index import Indexed, index_project
from repertoire.app.projects.left_out import DECIDING, LeftOut
from repertoire.app.projects.named_files import is_read, say_all
from repertoire.app.projects.origin import record_origin
from repertoire.app.projects.queues import QUEUES, VECTORS, held, queue_of
from repertoire.app.projects.warming import warm
from repertoire.boot.filelock import only_one
from repertoire.domain.errors import MemoryGone, StoreBusy
from repertoire.ports import Embedder
from repertoire.store.project_file import ProjectStore

_GATHER_MS = 1_000  # longest time in which changes are one batch: a checkout writes thousands of files at once
_STEP_MS = 100  # without a change, after which a batch is read
_QUIET_S = 2.0  # without a change, after which what was read is embedded
_IDLE_S = 20.0  # between looks at whether the model may go and whether the memory is still there
_TURN_S = 5.0  # between attempts to become the one process that watches
_MOST_TEXTS = 2_000  # without a vector that are embedded unasked; more are left to `project index`
_AT_ONCE = 256  # texts that are embedded before changes are looked at again

Told = Callable[[Indexed], None]


class _Ended(Exception):
    """The process is to end."""


class Watcher:
    """Reads a project's changes into its memory; documents, programs and other files wait for none of the others."""

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
        self._ignored = LeftOut(self._root, home=memory.path.parent.parent)
        self._events: queue.SimpleQueue[set[str] | BaseException] = queue.SimpleQueue()
        self._changed: dict[str, set[str]] = {one: set() for one in QUEUES}
        self._whole = {*QUEUES}  # queues of which every file is to be looked at
        self._told_apart: tuple[int, int] | None = None  # the repository whose project is known to be the memory's
        self._in_between = False
        self._to_embed = True

    def run(self, stop: threading.Event) -> None:
        """Read what changed since the last time, then each batch of changes as it happens, until `stop` is set.

        One process at a time watches a project: another waits until that one has ended. The end of the memory, when
        somebody forgets the project, ends this too.

        Raises:
            OSError: the operating system watches no more folders for this user.
            ProjectRefused: another project lies in the folder now, of which nothing is read, or the folder is gone.
        """

        def wait(_seconds: int) -> None:
            if stop.wait(_TURN_S):
                raise _Ended

        lock = self._memory.path.with_name(f"{self._memory.path.name}.watch")
        with contextlib.suppress(_Ended, KeyboardInterrupt, MemoryGone), only_one(lock, wait):
            threading.Thread(target=self._listen, args=(stop,), daemon=True).start()
            self._read_due()
            warm(self._memory, self._root)
            self._sort(self._events.get())
            self._whole = {*QUEUES}  # nothing was told of what changed before this first event
            while self._memory.path.exists():
                self._read_due()
                if not self._hear(_QUIET_S if self._to_embed or self._due() else _IDLE_S):
                    self._rest()

    def _listen(self, stop: threading.Event) -> None:
        """Tell of the paths that changed together; at first, and at the end, of something in any case."""
        end: BaseException = _Ended()
        try:
            for number, changes in enumerate(
                watch(
                    self._root,
                    watch_filter=self._is_wanted,
                    debounce=_GATHER_MS,
                    step=_STEP_MS,
                    stop_event=stop,
                    rust_timeout=int(1_000 * _QUIET_S),
                    yield_on_timeout=True,
                    raise_interrupt=False,
                    ignore_permission_denied=True,
                )
            ):
                if changes or number == 0:
                    self._events.put({self._inside(path) for _, path in changes})
        except OSError as error:
            end = error
        finally:
            self._events.put(end)

    def _hear(self, seconds: float) -> bool:
        """Take the changes that were told, waiting for the first one; tell whether there was any."""
        heard = False
        with contextlib.suppress(queue.Empty):
            while True:
                self._sort(self._events.get(block=seconds > 0, timeout=seconds or None))
                heard, seconds = True, 0.0
        return heard

    def _sort(self, told: set[str] | BaseException) -> None:
        """Add the paths that changed to their queues."""
        if isinstance(told, BaseException):
            raise told
        if any(path.rpartition("/")[2] in DECIDING for path in told):
            self._ignored = LeftOut(self._root, home=self._memory.path.parent.parent)
        if not say_all(self._root, told):
            self._whole = {*QUEUES}
        for path in told:
            self._changed[queue_of(path)].add(path)

    def _is_wanted(self, _change: Change, path: str) -> bool:
        return Path(path).is_relative_to(self._root) and is_read(self._root, self._inside(path), self._ignored)

    def _inside(self, path: str) -> str:
        return Path(path).relative_to(self._root).as_posix().encode("utf-8", "replace").decode()

    def _due(self) -> list[str]:
        return [one for one in QUEUES if one in self._whole or self._changed[one]]

    def _read_due(self) -> None:
        """Read what changed, all of it at once; where another process reads one of the queues, the others alone."""
        due = self._due()
        if due and not self._read(due) and len(due) > 1:
            for one in due:
                self._read([one])

    def _read(self, queues: Collection[str]) -> bool:
        """Read what changed in some queues; tell whether no other process reads one of them."""
        whole = self._whole.intersection(queues)
        changed = {one: self._changed[one] for one in queues}
        self._whole -= whole
        self._changed |= {one: set() for one in queues}
        try:
            self._refuse_other()
            done = index_project(
                self._memory,
                most_files=self._most_files,
                among=None if whole else set[str]().union(*changed.values()),
                queues=queues,
                wait_s=0,
                between=self._between,
            )
        except StoreBusy:  # a person has it read: it is looked at again afterwards
            self._whole |= whole
            for one, paths in changed.items():
                self._changed[one] |= paths
            return False
        self._to_embed = True
        self._told(done)
        return True

    def _refuse_other(self) -> None:
        """Refuse another project than the memory's; the history is looked at only where its configuration changed."""
        try:
            status = (self._root / ".git" / "config").stat()
        except OSError:
            there = None
        else:
            there = (status.st_ino, status.st_ctime_ns)
        if there is None or there != self._told_apart:
            self._told_apart = there if record_origin(self._memory) else None

    def _between(self) -> None:
        """Read what changed meanwhile in the queues that are not being read."""
        if self._in_between or not self._hear(0.0):
            return
        self._in_between = True
        try:
            for one in self._due():
                self._read([one])
        finally:
            self._in_between = False

    def _rest(self) -> None:
        """Embed what was read, some of it at once."""
        embedder = self._embedder
        if embedder is not None and self._to_embed:
            missing, _ = self._memory.missing_vectors(embedder.model)
            self._to_embed = 0 < missing <= _MOST_TEXTS
        if embedder is not None and self._to_embed:
            # where an index embeds them already, the rest comes later
            with contextlib.suppress(StoreBusy), held(self._memory.path, VECTORS, wait_s=0):
                done, missing = embed_pending(self._memory, self._root, embedder, most=_AT_ONCE)
                self._to_embed = done > 0 and missing > 0
        self._to_embed = self._to_embed and embedder is not None
        self._rest_too()
