"""Makes sure that there is something to answer from: a first run reads text at once, vectors follow by themselves."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import datetime, timedelta, timezone

from repertoire.app.embed import embed_pending
from repertoire.app.ingest import Step
from repertoire.app.refresh import RefreshRunning, refresh, running, start_detached_refresh
from repertoire.app.wiring import Repertoire
from repertoire.cli.output import progress
from repertoire.domain.answer import BODY_SPACE

_OLD = timedelta(days=1)  # what was read longer ago is read again, beside the answer
_PATIENCE_S = 120.0  # for another process that does the first reading
_POLL_S = 0.2


@contextmanager
def prepared(repertoire: Repertoire, *, wait: bool) -> Iterator[tuple[str, ...]]:
    """Have text to answer from, and vectors too if told to wait for them; yield what a person should know beside."""
    if not repertoire.store.read_only:
        with progress() as bar:
            if not repertoire.store.sources.all():
                _first_reading(repertoire, bar)
            if wait and repertoire.embedder is not None:
                store, embedder = repertoire.store, repertoire.embedder
                embed_pending(store, embedder, report=lambda done, total: bar("vectors", done, total))
        if not wait and repertoire.settings.background:
            _follow_up(repertoire)
    yield repertoire.degraded


def tell_steps(bar: Callable[[str, int, int], None]) -> Callable[[Step], None]:
    """Return a report of ingest steps that moves a progress bar."""
    return lambda step: bar(f"{step.stage} {step.source}".strip(), step.done, step.total)


def _first_reading(repertoire: Repertoire, bar: Callable[[str, int, int], None]) -> None:
    try:
        refresh(repertoire.store, repertoire.home, settings=repertoire.settings, report=tell_steps(bar))
    except RefreshRunning:
        deadline = time.monotonic() + _PATIENCE_S
        while not repertoire.store.sources.all() and running(repertoire.home) and time.monotonic() < deadline:
            bar("waiting for another process that reads the same", 0, 0)
            time.sleep(_POLL_S)


def _follow_up(repertoire: Repertoire) -> None:
    """Start the refresh that goes on beside: for vectors still to come, and for sources read long ago."""
    store, embedder = repertoire.store, repertoire.embedder
    vectors = store.vectors.progress(BODY_SPACE, embedder.model) if embedder is not None else None
    newest = max((row.ingested_at for row in store.sources.all()), default="")
    limit = (datetime.now(timezone.utc) - _OLD).strftime("%Y-%m-%dT%H:%M:%SZ")
    if newest < limit or (vectors is not None and vectors.done < vectors.total):
        start_detached_refresh(repertoire.home)
