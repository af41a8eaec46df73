"""Takes over the memory of a project whose folder was moved, and finds such memories."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from repertoire.app.clock import now
from repertoire.app.projects.mirror import mark_of
from repertoire.app.projects.places import files_of, memory_file, refuse_no_project
from repertoire.app.projects.queues import QUEUES, held
from repertoire.boot import home as homes
from repertoire.domain.errors import ProjectRefused, StoreError
from repertoire.store.project_file import ProjectStore

Opening = Callable[[Path], ProjectStore]
_SAME = 0.5  # of the files that a memory knows: from so many on a folder may be the one that was moved


@dataclass(frozen=True)
class LeftBehind:
    """A memory whose folder is gone, with how many of the files that it knows lie in another folder."""

    root: str
    source: str  # what is named to take it over: the folder, or the file of a memory that was set aside
    files: int
    here: int
    entries: int


def take_over(home: Path, old: str, root: str, opening: Opening) -> None:
    """Make the memory of a folder that is gone the one of the folder that it became.

    A memory that the new folder has already is replaced, if nothing was saved in it. Whatever ends this leaves at least
    one of both whole, and the same call goes on from there.

    Raises:
        ProjectRefused: the old folder is there or has no memory, or something was saved in the new one's.
        StoreBusy: another process reads the project into its memory.
    """
    refuse_no_project(root)
    gone, file = _set_aside(home, old), memory_file(home, root)
    if gone is None:
        gone = memory_file(home, old)
        _refuse_unless_moved(old, gone)
    if file.is_file():
        with opening(file) as memory:
            _refuse_saved(memory, root)
    taken = file.with_name(f"{file.name}.taken")
    with contextlib.ExitStack() as locks:
        for queue in QUEUES:
            locks.enter_context(held(gone, queue))
        for path in files_of(taken):  # left by a killed process; its log would be replayed into the new file
            path.unlink()
        taken.touch(mode=0o600, exist_ok=False)
        with opening(gone) as memory:
            memory.copy_to(taken)  # never renamed: another process may hold it open, with a log of the old name
        with opening(taken) as memory:
            memory.begin(root, now=now())
            memory.set_origin(())  # a person said whose it is, whatever its history was
        for path in files_of(file):
            if not path.name.startswith(taken.name):
                path.unlink(missing_ok=True)
        taken.replace(file)
        if mark_of(gone).exists():
            mark_of(file).touch(mode=0o600)
    for path in files_of(gone):
        path.unlink(missing_ok=True)


def left_behind(home: Path, root: str) -> LeftBehind | None:
    """Return the memory, of those whose folder is gone, that knows most of a folder's files; None if none knows half.

    Memories that cannot be opened are passed over.
    """
    found = []
    for file in sorted(homes.projects_path(home).glob("*.db")):
        with contextlib.suppress(StoreError), ProjectStore.open(file, read_only=True) as memory:
            was, known = memory.root(), memory.known()
            source = str(file) if file != memory_file(home, was) else was if not os.path.lexists(was) else ""
            if was and known and source:
                here = sum(Path(root, path).is_file() for path in known)
                found.append(LeftBehind(was, source, len(known), here, memory.counts("").entries))
    best = max(found, key=lambda one: one.here, default=None)
    return best if best and best.here >= _SAME * best.files else None


def _set_aside(home: Path, named: str) -> Path | None:
    """Return the file of a memory that is named itself, as one is that was set aside; None for a folder's."""
    file = Path(os.path.realpath(named))
    if file.suffix != ".db" or file.parent != Path(os.path.realpath(homes.projects_path(home))) or not file.is_file():
        return None
    with ProjectStore.open(file, read_only=True) as memory:
        return file if file.name != memory_file(home, memory.root()).name else None


def _refuse_unless_moved(old: str, memory: Path) -> None:
    if os.path.lexists(old):
        message = f"{old} is still there and keeps its memory; `repertoire project init` begins another for this folder"
        raise ProjectRefused(message)
    if not memory.is_file():
        message = f"{old} has no project memory in this home; name the folder as it was called when it had one"
        raise ProjectRefused(message)


def _refuse_saved(memory: ProjectStore, root: str) -> None:
    saved = memory.counts("").entries
    if saved:
        message = (
            f"{root} has a memory of its own with {saved} notes and tasks; `repertoire project forget` deletes it, "
            f"then the other one can be taken over"
        )
        raise ProjectRefused(message)
