"""Names the folder in the home that holds a source's clone; imports nothing that opens or reads sources."""

from __future__ import annotations

import re
from pathlib import Path

from repertoire.boot.home import clones_path
from repertoire.domain.digest import digest_of

_UNSAFE = re.compile(r"[^A-Za-z0-9._-]+")


def clone_folder(home: Path, key: str) -> Path:
    """Return the folder in the home that holds the clone of a source."""
    readable = _UNSAFE.sub("_", key).strip("._")[-80:]
    return clones_path(home) / f"{readable}-{digest_of(key)[:8]}"
