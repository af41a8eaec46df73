"""Tells whether a memory is that of the project that lies in its folder now, and sets aside one of another project."""

from __future__ import annotations

import contextlib
import hashlib
import os
from collections.abc import Callable
from dataclasses import dataclass
from itertools import count
from pathlib import Path

from repertoire.app.projects.places import files_of, memory_file
from repertoire.app.projects.queues import QUEUES, held
from repertoire.domain.errors import SourceError
from repertoire.sources import git, repository
from repertoire.store.project_file import ProjectStore

_ROOT = "root:"
_MOST_ROOTS = 50  # first commits of one history: more than one after unrelated histories were merged


@dataclass(frozen=True)
class SetAside:
    """The memory of another project that lay in the folder before, in the file where it lies now."""

    root: str
    file: Path
    entries: int


def origin_of(root: Path) -> frozenset[str]:
    """Return the first commits of a folder's repository and a hash of where it came from; empty where it has none."""
    try:
        found = repository.look(root)
        if found.shallow:  # its first commits are those of this clone alone
            first = ""
        else:
            with repository.lent(found) as git_dir:
                first = git.read(("rev-list", "--max-parents=0", found.commit), git_dir)
    except SourceError:
        return frozenset()
    roots = {f"{_ROOT}{commit}" for commit in first.split()[:_MOST_ROOTS]}
    # as a hash: an address may hold a password
    address = {hashlib.sha256(found.origin.encode("utf-8", "replace")).hexdigest()} if found.origin else set[str]()
    return frozenset(roots | address)


def record_origin(memory: ProjectStore) -> None:
    """Record what tells a memory's project from others, unless that is recorded or cannot be told."""
    if not memory.origin() and (origin := origin_of(Path(memory.root()))):
        memory.set_origin(origin)


def set_aside_other(home: Path, root: str, opening: Callable[[Path], ProjectStore]) -> SetAside | None:
    """Rename the memory of a folder if it is that of another project, so that another can begin; None if it is not.

    Raises:
        StoreBusy: another process reads the project into its memory.
    """
    file = memory_file(home, root)
    if not file.is_file():
        return None
    with opening(file) as memory:
        if not _is_other(memory, Path(root)):
            return None
        entries = memory.counts().entries
        free = (file.with_name(f"{file.stem}-{number}.db") for number in count(1))
        kept = next(one for one in free if not files_of(one))
        with contextlib.ExitStack() as locks:
            for queue in QUEUES:
                locks.enter_context(held(file, queue))
            os.close(os.open(kept, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))
            memory.copy_to(kept)  # never renamed: another process may hold it open, with a log of the old name
    for path in files_of(file):
        rest = path.name[len(file.name) :]
        if rest.startswith((".backup", ".damaged-", ".mirror")) and not rest.endswith(".lock"):
            path.replace(kept.with_name(f"{kept.name}{rest}"))
        else:
            path.unlink(missing_ok=True)
    return SetAside(root, kept, entries)


def _is_other(memory: ProjectStore, root: Path) -> bool:
    was, now = memory.origin(), origin_of(root)
    if was & now:
        return False
    if _has_roots(was) and _has_roots(now):
        return True
    known = memory.known()  # no history tells: then the files do
    return bool(known) and not any(Path(root, path).is_file() for path in known)


def _has_roots(origin: frozenset[str]) -> bool:
    return any(one.startswith(_ROOT) for one in origin)
