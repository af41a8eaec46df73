"""Judges whether what is known is still what is there: cheap enough for every start of a session."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Mapping
from datetime import datetime, timedelta, timezone
from pathlib import Path

from repertoire.app.wiring import Repertoire
from repertoire.domain.answer import BODY_SPACE
from repertoire.sources.installed import config_folder

OLD = timedelta(days=1)  # what was read longer ago is read again
_WATCHED = ("skills", "agents", "commands", "plugins/installed_plugins.json", "plugins/known_marketplaces.json")
_FORMAT = "%Y-%m-%dT%H:%M:%SZ"


def is_stale(repertoire: Repertoire, environment: Mapping[str, str]) -> bool:
    """Tell whether a refresh would find something: no sources, old ones, changed ones, or vectors still to come."""
    store, embedder = repertoire.store, repertoire.embedder
    read = max((row.ingested_at for row in store.sources.all()), default="")
    if read < (datetime.now(timezone.utc) - OLD).strftime(_FORMAT):
        return True
    vectors = store.vectors.progress(BODY_SPACE, embedder.model) if embedder is not None else None
    if vectors is not None and vectors.done < vectors.total:
        return True
    since = datetime.strptime(read, _FORMAT).replace(tzinfo=timezone.utc).timestamp()
    return any(changed > since for changed in _changes(config_folder(environment)))


def _changes(config: Path) -> Iterable[float]:
    """Yield when each watched place last changed: a folder changes when something in it is added or removed."""
    for name in _WATCHED:
        with contextlib.suppress(OSError):
            yield (config / name).stat().st_mtime
