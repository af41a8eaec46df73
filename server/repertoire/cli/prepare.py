"""Makes sure that there is something to answer from: a first run reads text at once, vectors follow by themselves."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from repertoire.app.ingest import ingest
from repertoire.app.wiring import Repertoire


@contextmanager
def prepared(repertoire: Repertoire, *, wait: bool) -> Iterator[tuple[str, ...]]:
    """Read what is installed where nothing is known yet."""
    if not repertoire.store.sources.all():
        for source in ("installed", "catalogue"):
            ingest(repertoire.store, repertoire.home, source, settings=repertoire.settings)
    yield repertoire.degraded
