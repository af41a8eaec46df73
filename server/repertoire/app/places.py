"""Tells where in the home the clone of a source lies; imports nothing that opens or reads one."""

from __future__ import annotations

import hashlib
import re
from pathlib import Path

_UNSAFE = re.compile(r"[^A-Za-z0-9._-]+")


def clone_folder(home: Path, key: str) -> Path:
    """Return where the clone of a source lies in the home."""
    readable = _UNSAFE.sub("_", key).strip("._")[-80:]
    return home / "sources" / f"{readable}-{hashlib.sha256(key.encode()).hexdigest()[:8]}"
