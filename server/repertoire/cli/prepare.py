"""Makes sure that there is something to answer from: a first run reads text at once, vectors follow by themselves."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

import click

from repertoire.app.kernel import Repertoire
from repertoire.app.upkeep.background_refresh import RefreshRunning, running, start_detached_refresh
from repertoire.app.upkeep.refresh_due import is_refresh_due
from repertoire.cli.output import progress
from repertoire.domain.answer import BODY_SPACE

if TYPE_CHECKING:
    from repertoire.app.sources.settle import Step

_PATIENCE_S = 120.0  # for another process that does the first reading
_POLL_S = 0.2


@contextmanager
def prepared(repertoire: Repertoire, *, wait: bool) -> Iterator[tuple[str, ...]]:
    """Have text to answer from, and vectors too if told to wait for them; yield what a person should know beside."""
    if not repertoire.store.read_only:
        if _unread(repertoire):
            with progress() as bar:
                _first_reading(repertoire, bar)
        vectors_follow(repertoire, wait=wait)
    yield repertoire.degraded


def vectors_follow(repertoire: Repertoire, *, wait: bool) -> None:
    """Embed now what has no vector yet; or leave it, with whatever else is out of date, to a refresh beside.

    Interrupted, it goes on where it was at the next run.
    """
    if wait and repertoire.embedder is not None:
        from repertoire.app.sources.embed import embed_pending  # noqa: PLC0415 - an answer that waits for nothing needs it not

        with progress() as bar:
            store, embedder = repertoire.store, repertoire.embedder
            embed_pending(store, embedder, report=lambda done, total: bar("vectors", done, total))
    elif repertoire.settings.background and is_refresh_due(repertoire, os.environ):
        start_detached_refresh(repertoire.home)


def tell_steps(bar: Callable[[str, int, int], None]) -> Callable[[Step], None]:
    """Return a report of ingest steps that moves a progress bar."""
    return lambda step: bar(f"{step.stage} {step.source}".strip(), step.done, step.total)


def waiting(repertoire: Repertoire, bar: Callable[[str, int, int], None]) -> Callable[[], None]:
    """Return what tells, called again and again, that another refresh is waited for, and how far it is."""
    said: list[str] = []

    def tell() -> None:
        if not said:
            click.echo("another refresh is running; this one starts when it ends", err=True)
        said[:] = ["once"]
        model = repertoire.embedder.model if repertoire.embedder is not None else ""
        vectors = repertoire.store.vectors.progress(BODY_SPACE, model)
        if vectors.done < vectors.total and model:
            bar("the other: vectors", vectors.done, vectors.total)
        else:
            bar("the other: reading", 0, 0)

    return tell


def _unread(repertoire: Repertoire) -> bool:
    """Tell whether no source was read yet, or none since the database was mended."""
    return not any(row.ingested_at for row in repertoire.store.sources.all())


def _first_reading(repertoire: Repertoire, bar: Callable[[str, int, int], None]) -> None:
    from repertoire.app.sources.embed import embed_shipped  # noqa: PLC0415 - what reads sources takes longer than an answer
    from repertoire.app.upkeep.refresh import refresh  # noqa: PLC0415

    try:
        refresh(repertoire.store, repertoire.home, settings=repertoire.settings, report=tell_steps(bar))
        if repertoire.embedder is not None:
            embed_shipped(repertoire.store, repertoire.embedder)
    except RefreshRunning:
        deadline = time.monotonic() + _PATIENCE_S
        while _unread(repertoire) and running(repertoire.home) and time.monotonic() < deadline:
            bar("waiting for another process that reads the same", 0, 0)
            time.sleep(_POLL_S)
