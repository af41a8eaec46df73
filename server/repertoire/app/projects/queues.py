"""Divides a project's files among three queues (documents, programs, others), each read in order by itself."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from pathlib import Path

from repertoire.boot.filelock import only_one
from repertoire.domain.errors import StoreBusy
from repertoire.domain.project import CODE, DOCS, FILES
from repertoire.projects.languages import MARKDOWN, PARSED, language_of

QUEUES = (DOCS, CODE, FILES)  # in the order in which their locks are taken, so that no two processes wait in a circle
VECTORS = "vectors"  # the lock under which texts are embedded, after all queues
WAIT_S = 30


def queue_of(path: str) -> str:
    """Return the queue that a file is read in, by its name."""
    language = language_of(path)
    return DOCS if language == MARKDOWN else CODE if language in PARSED else FILES


@contextlib.contextmanager
def held(
    memory: Path, queue: str, *, wait_s: float = WAIT_S, waiting: Callable[[], object] = lambda: None
) -> Iterator[None]:
    """Let no other process read this queue of a project into its memory meanwhile, nor embed it where it is `VECTORS`.

    `waiting` is called again and again while another process does.

    Raises:
        StoreBusy: another process does.
    """

    def wait(seconds: int) -> None:
        if seconds >= wait_s:
            message = f"another process is reading the {queue} of this project; wait until it has ended"
            raise StoreBusy(message)
        waiting()

    with only_one(memory.with_name(f"{memory.name}.{queue}.lock"), wait):
        yield
