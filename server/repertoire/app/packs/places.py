"""Names where the packs of a home lie, and the files of a pack with their hashes."""

from __future__ import annotations

import hashlib
from pathlib import Path

DATABASE, MANIFEST = "pack.db", "manifest.json"
_HASHED = 1 << 20  # bytes that are hashed at once


def packs_folder(home: Path) -> Path:
    """Return the folder that holds the packs of a home."""
    return home / "packs"


def digest(file: Path) -> str:
    """Return the SHA-256 of a file."""
    state = hashlib.sha256()
    with file.open("rb") as stream:
        while block := stream.read(_HASHED):
            state.update(block)
    return state.hexdigest()
