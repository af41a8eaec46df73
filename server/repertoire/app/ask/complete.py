"""Names what a person may be typing: components and sources, from the store, quickly, and nothing where that fails."""

from __future__ import annotations

import re
from pathlib import Path

from repertoire.boot import home as homes
from repertoire.boot.errors import BootError
from repertoire.store.light.names import component_names, source_keys

MOST = 50
# A completion is put on the command line as it stands: what a shell would read as more than a word is not offered.
_WORD = re.compile(r"[A-Za-z0-9~/][A-Za-z0-9._/:#@+~-]{0,199}")


def components(start: str) -> list[str]:
    """Return names of components that begin so, or ids, once a colon tells that an id is meant."""
    return _safe(component_names(path, start, limit=2 * MOST) if (path := _database()) else [])


def sources(start: str) -> list[str]:
    """Return keys of sources that begin so."""
    return _safe(source_keys(path, start, limit=2 * MOST) if (path := _database()) else [])


def _database() -> Path | None:
    try:
        return homes.database_path(homes.locate())
    except (BootError, OSError):
        return None


def _safe(words: list[str]) -> list[str]:
    return [word for word in words if _WORD.fullmatch(word)][:MOST]
