"""Names where the packs of a home lie, and the files of a pack with their hashes."""

from __future__ import annotations

import hashlib
from pathlib import Path

from repertoire.sources.scratch import remove

DATABASE, MANIFEST = "pack.db", "manifest.json"
URLS = "urls.txt"  # where each document of a pack comes from, one a line
REFINEMENT = "refinement.jsonl"  # what was added to the facts that rules found
SKILL, CONFIG = "skill.md", "kg_config.json"  # for Claude Code, and how the pack is read and asked
EXAM, RESULTS = "eval/questions.jsonl", "eval/results"
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


def take_place(folder: Path, target: Path, beside: Path) -> None:
    """Rename a finished pack into its place; a pack that lies there is put aside first, and deleted."""
    if target.exists():
        target.rename(beside / "replaced")
    folder.rename(target)
    remove(beside / "replaced")
