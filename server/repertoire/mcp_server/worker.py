"""Defines a worker thread that owns a connection to the store: it runs jobs in order, and callers never block.

One worker answers and one writes: an ingest in another process may hold the write lock for seconds, and a hook must not
wait for that. Within a worker nothing runs at once, so no lock of ours is needed.
"""

from __future__ import annotations

import asyncio
import concurrent.futures
from collections.abc import Callable
from dataclasses import dataclass
from typing import Generic, Protocol, TypeVar

from repertoire.domain.errors import CorruptStore

Owned = TypeVar("Owned", bound="Closing")
Result = TypeVar("Result")


class Closing(Protocol):
    """An object that a worker may own."""

    @property
    def outdated(self) -> bool:
        """Tell whether it is to be created again."""

    def close(self) -> None:
        """Release the store."""


@dataclass(frozen=True)
class StoreCare:
    """How a worker checks and mends its store: `place` identifies the file, `mend` repairs it."""

    place: Callable[[], object] = lambda: None
    mend: Callable[[CorruptStore], None] = lambda _: None


class Worker(Generic[Owned]):
    """A thread and the object it owns, which is created on that thread at first use, and again after a failure.

    The object is also created again if it says that it is outdated, the store's file was replaced, or the disk has room
    again.
    """

    def __init__(self, make: Callable[[], Owned], *, name: str, care: StoreCare | None = None) -> None:
        self._make = make
        self._care = care or StoreCare()
        self._place: object = None
        self._owned: Owned | None = None
        self._executor = concurrent.futures.ThreadPoolExecutor(max_workers=1, thread_name_prefix=name)

    def submit(self, work: Callable[[Owned], Result]) -> concurrent.futures.Future[Result]:
        """Queue a job; its future holds the result or error. If the store is damaged, repair it and repeat the job."""
        return self._executor.submit(self._do, work)

    async def run(self, work: Callable[[Owned], Result]) -> Result:
        """Queue a job and wait for it; if the caller is cancelled, a job that has begun still finishes."""
        return await asyncio.wrap_future(self.submit(work))

    def drain(self, seconds: float) -> bool:
        """Wait at most this long until all queued jobs are done; tell whether they are."""
        last = self._executor.submit(bool)
        return bool(concurrent.futures.wait([last], timeout=seconds).done)

    def close(self) -> None:
        """Finish the queued jobs, close the owned object on its thread, and end the thread."""
        if self._owned is not None:
            self._executor.submit(self._release).result()
        self._executor.shutdown()

    def _do(self, work: Callable[[Owned], Result]) -> Result:
        try:
            return work(self._own())
        except CorruptStore as error:
            self._release()
            self._care.mend(error)
        return work(self._own())

    def _own(self) -> Owned:
        if self._owned is not None and (self._owned.outdated or self._care.place() != self._place):
            self._release()
        if self._owned is None:
            self._owned = self._make()
            self._place = self._care.place()
        return self._owned

    def _release(self) -> None:
        owned, self._owned = self._owned, None
        if owned is not None:
            owned.close()
