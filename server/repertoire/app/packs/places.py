"""Names where the packs of a home lie, and the files of a pack with their hashes."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path

from repertoire.boot.filelock import only_one
from repertoire.documentation.manifest import PackManifest, read_manifest
from repertoire.domain.errors import PackRefused
from repertoire.sources.scratch import PLACE, remove

DATABASE, MANIFEST = "pack.db", "manifest.json"
URLS = "urls.txt"  # where each document of a pack comes from, one a line
REFINEMENT = "refinement.jsonl"  # what was added to the facts that rules found
SKILL, CONFIG = "skill.md", "kg_config.json"  # for Claude Code, and how the pack is read and asked
EXAM, RESULTS = "eval/questions.jsonl", "eval/results"
_BEFORE = ".before-"  # begins the name of a pack while another takes its place: no pack has such a name
_LOCK = f"{PLACE}/replacing.lock"
_HASHED = 1 << 20  # bytes that are hashed at once


def packs_folder(home: Path) -> Path:
    """Return the folder that holds the packs of a home."""
    return home / "packs"


def make_private(packs: Path) -> None:
    """Create the folder of a home's packs, if it is not there, for this user alone, also in a home open to others."""
    packs.mkdir(parents=True, exist_ok=True, mode=0o700)


def digest(file: Path) -> str:
    """Return the SHA-256 of a file."""
    state = hashlib.sha256()
    with file.open("rb") as stream:
        while block := stream.read(_HASHED):
            state.update(block)
    return state.hexdigest()


def take_place(folder: Path, target: Path) -> None:
    """Rename a finished pack into its place; one that lies there stays until then, whatever ends this before."""
    with _alone(target.parent):
        _settle(target.parent)
        if target.exists():
            target.rename(target.with_name(f"{_BEFORE}{target.name}"))
        try:
            folder.rename(target)
        finally:
            _settle(target.parent)


@contextmanager
def only_builder(target: Path) -> Iterator[None]:
    """Let nobody else build the pack of this place while the block runs.

    Raises:
        PackRefused: another process builds it.
    """
    lock = target.parent / PLACE / f"building-{target.name}.lock"
    make_private(target.parent)
    lock.parent.mkdir(exist_ok=True, mode=0o700)

    def refuse(_seconds: int) -> None:
        message = f"another process is building the pack {target.name}; wait until it has ended, or end it"
        raise PackRefused(message)

    with only_one(lock, refuse):
        yield


def manifest_at(folder: Path) -> PackManifest | None:
    """Return the manifest of the pack in a folder; None where there is none that can be read."""
    try:
        return read_manifest((folder / MANIFEST).read_text(encoding="utf-8"), place=folder.name)
    except (OSError, ValueError, PackRefused):
        return None


def put_back(packs: Path) -> None:
    """Put back each pack whose successor was killed before it took the place."""
    if any(packs.glob(f"{_BEFORE}*")):
        with _alone(packs):
            _settle(packs)


def _alone(packs: Path) -> AbstractContextManager[None]:
    lock = packs / _LOCK
    lock.parent.mkdir(exist_ok=True, mode=0o700)
    return only_one(lock, lambda _seconds: None)


def _settle(packs: Path) -> None:
    for before in packs.glob(f"{_BEFORE}*"):
        target = packs / before.name.removeprefix(_BEFORE)
        if target.exists():
            remove(before)
        else:
            before.rename(target)
