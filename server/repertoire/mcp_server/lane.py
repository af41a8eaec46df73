"""A thread that owns a connection to the store: everything handed to it runs in order, and its callers never block.

One lane answers and one writes: an ingest in another process may hold the write lock for seconds, and a hook must not
wait for that. Within a lane nothing runs at once, so no lock of ours is needed.
"""

from __future__ import annotations

import asyncio
import concurrent.futures
from collections.abc import Callable
from typing import Generic, TypeVar

Owned = TypeVar("Owned")
Result = TypeVar("Result")


class Lane(Generic[Owned]):
    """One thread and what it owns, made on that thread when first needed, and again where making it failed."""

    def __init__(self, make: Callable[[], Owned], *, name: str) -> None:
        self._make = make
        self._owned: Owned | None = None
        self._executor = concurrent.futures.ThreadPoolExecutor(max_workers=1, thread_name_prefix=name)

    def submit(self, work: Callable[[Owned], Result]) -> concurrent.futures.Future[Result]:
        """Queue work; its future holds the result or the error."""
        return self._executor.submit(self._do, work)

    async def run(self, work: Callable[[Owned], Result]) -> Result:
        """Queue work and wait for it; where the caller gives up, work that has begun finishes by itself."""
        return await asyncio.wrap_future(self.submit(work))

    def drain(self, seconds: float) -> bool:
        """Wait until all that is queued is done, so long at most; tell whether it is."""
        last = self._executor.submit(bool)
        return bool(concurrent.futures.wait([last], timeout=seconds).done)

    def close(self, dispose: Callable[[Owned], object]) -> None:
        """Finish what is queued, dispose of what the lane owns on its own thread, and end the thread."""
        if self._owned is not None:
            self._executor.submit(dispose, self._owned).result()
        self._executor.shutdown()

    def _do(self, work: Callable[[Owned], Result]) -> Result:
        if self._owned is None:
            self._owned = self._make()
        return work(self._owned)
