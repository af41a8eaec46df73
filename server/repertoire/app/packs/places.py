"""Names where the packs of a home lie, and the files of a pack."""

from __future__ import annotations

from pathlib import Path

DATABASE, MANIFEST = "pack.db", "manifest.json"


def packs_folder(home: Path) -> Path:
    """Return the folder that holds the packs of a home."""
    return home / "packs"
