"""Completes the names of components and sources for the shell, fast; returns nothing where the store fails."""

from __future__ import annotations

import re
from pathlib import Path

from repertoire.boot import home as homes
from repertoire.boot.errors import BootError
from repertoire.store.light.names import component_names, source_keys

MOST = 50  # completions that are offered at once
# A shell inserts a completion unquoted, so names with characters that a shell interprets are never offered.
_WORD = re.compile(r"[A-Za-z0-9~/][A-Za-z0-9._/:#@+~-]{0,199}")


def components(start: str) -> list[str]:
    """Return the component names that begin with a text, or the ids if the text contains a colon."""
    return _safe(component_names(path, start, limit=2 * MOST) if (path := _database()) else [])


def sources(start: str) -> list[str]:
    """Return the source keys that begin with a text."""
    return _safe(source_keys(path, start, limit=2 * MOST) if (path := _database()) else [])


def _database() -> Path | None:
    try:
        return homes.database_path(homes.locate())
    except (BootError, OSError):
        return None


def _safe(words: list[str]) -> list[str]:
    return [word for word in words if _WORD.fullmatch(word)][:MOST]
