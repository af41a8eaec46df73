"""Makes sure that the graph has components before a question: the first run reads text at once, vectors follow."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

import click

from repertoire.app.kernel import Repertoire
from repertoire.app.upkeep.background_refresh import RefreshRunning, running, start_detached_refresh
from repertoire.app.upkeep.refresh_due import is_refresh_due, is_unread, lacks_catalogue
from repertoire.cli.output import progress
from repertoire.domain.answer import BODY_SPACE

if TYPE_CHECKING:
    from repertoire.app.sources.settle import Step

_PATIENCE_S = 120.0  # the longest wait for another process that does the first reading
_POLL_S = 0.2


@contextmanager
def prepared(repertoire: Repertoire, *, wait: bool) -> Iterator[tuple[str, ...]]:
    """Read the sources if the graph is empty, and embed them if told to wait; yield notes for the person.

    Who read a source before anything else gets the catalogue too, which a refresh in the background would bring.
    """
    if not repertoire.store.read_only:
        if is_unread(repertoire.store):
            with progress() as bar:
                _first_reading(repertoire, bar)
        elif repertoire.settings.background and lacks_catalogue(repertoire):
            from repertoire.app.upkeep.first_run import fill_new_home  # noqa: PLC0415 - once in a home's life

            fill_new_home(repertoire)
        embed_missing_vectors(repertoire, wait=wait)
    yield repertoire.degraded


def embed_missing_vectors(repertoire: Repertoire, *, wait: bool) -> None:
    """Embed the components without vectors if told to wait; else start a background refresh if one is due.

    After an interruption, the next run continues.
    """
    if wait and repertoire.embedder is not None:
        from repertoire.app.sources.embed import embed_pending  # noqa: PLC0415 - only needed with --wait

        with progress() as bar:
            store, embedder = repertoire.store, repertoire.embedder
            embed_pending(store, embedder, report=lambda done, total: bar("vectors", done, total))
    elif repertoire.settings.background and is_refresh_due(repertoire, os.environ):
        start_detached_refresh(repertoire.home)


def report_steps(bar: Callable[[str, int, int], None]) -> Callable[[Step], None]:
    """Return a callback that shows the steps of an ingest as a progress bar."""
    return lambda step: bar(f"{step.stage} {step.source}".strip(), step.done, step.total)


def wait_reporter(repertoire: Repertoire, bar: Callable[[str, int, int], None]) -> Callable[[], None]:
    """Return a callback that shows the progress of another refresh while this one waits for it."""
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


def _first_reading(repertoire: Repertoire, bar: Callable[[str, int, int], None]) -> None:
    from repertoire.app.sources.embed import embed_own, embed_shipped  # noqa: PLC0415 - a slow import for the first run only
    from repertoire.app.upkeep.refresh import refresh  # noqa: PLC0415

    try:
        refresh(repertoire.store, repertoire.home, settings=repertoire.settings, report=report_steps(bar))
        if repertoire.embedder is not None:
            embed_shipped(repertoire.store, repertoire.embedder)
            embed_own(repertoire.store, repertoire.embedder)
    except RefreshRunning:
        deadline = time.monotonic() + _PATIENCE_S
        while is_unread(repertoire.store) and running(repertoire.home) and time.monotonic() < deadline:
            bar("waiting for another process that reads the same", 0, 0)
            time.sleep(_POLL_S)
