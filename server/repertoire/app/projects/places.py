"""Names where the memories of projects lie, and finds the one of a folder."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Mapping
from pathlib import Path

from repertoire.app.current_project import current_project
from repertoire.boot import home as homes
from repertoire.boot.errors import HomeError
from repertoire.boot.session_folders import main_worktree
from repertoire.domain.errors import InvalidRequest, MemoryGone, ProjectRefused, UnknownFolder

MIRROR_FOLDER = ".repertoire"  # the folder of a project with the files of its entries, where a person wants them


def memory_file(home: Path, root: str) -> Path:
    """Return the file of a project's memory, by the project's folder."""
    real = os.path.realpath(root)
    name = hashlib.sha256(real.encode("utf-8", "surrogateescape")).hexdigest()[:20]
    return homes.projects_path(home) / f"{name}.db"


def still_there(memory: Path) -> Callable[[], None]:
    """Return a check that a memory's file is still the one that it is now.

    Raises:
        MemoryGone: by the check, once somebody deleted or replaced it: an open one would be written to no end.
    """

    def inode() -> int | None:
        try:
            return memory.stat().st_ino
        except FileNotFoundError:
            return None

    def check() -> None:
        if inode() != begun:
            message = "the memory of this project was forgotten or replaced meanwhile; nothing more is read into it"
            raise MemoryGone(message)

    begun = inode()
    return check


def files_of(memory: Path) -> list[Path]:
    """Return the files that belong to a memory: itself, its log, lock and backup, and damaged ones set aside."""
    return sorted(memory.parent.glob(f"{memory.name}*"))


def set_aside_of(memory: Path) -> list[Path]:
    """Return the memories of earlier projects in the same folder, which were set aside."""
    return sorted(memory.parent.glob(f"{memory.stem}-*.db"))


def mirrored_in(folder: str) -> str:
    """Return the folder with the files of a project's entries; empty if there is none."""
    mirror = Path(folder, MIRROR_FOLDER)
    return str(mirror) if mirror.is_dir() else ""


def root_of(home: Path, folder: str) -> str:
    """Return the folder of the project that a folder lies in: the nearest one that has a memory; empty if none has.

    A worktree of git without one has that of the repository's main worktree.
    """
    return _root_and_worktree(home, folder)[0]


def shared_root(home: Path, folder: str) -> str:
    """Return the folder whose memory a folder in a linked worktree without one shares; empty elsewhere."""
    root, worktree = _root_and_worktree(home, folder)
    return root if worktree else ""


def worked_in(home: Path, folder: str) -> str:
    """Return the folder of a linked worktree that stands for the project whose memory it shares; empty elsewhere."""
    return _root_and_worktree(home, folder)[1]


def _root_and_worktree(home: Path, folder: str) -> tuple[str, str]:
    """Return the project's folder, and its place in a linked worktree that shares its memory; either may be empty."""
    if not homes.projects_path(home).is_dir():
        return "", ""
    here = Path(os.path.realpath(folder))
    found = next((root for root in (here, *here.parents) if memory_file(home, str(root)).is_file()), None)
    top, shared, worktree = _of_main_worktree(home, here)
    if shared and (found is None or not found.is_relative_to(top)):
        return shared, worktree
    return str(found or ""), ""


def _of_main_worktree(home: Path, here: Path) -> tuple[Path, str, str]:
    """Return the top of a folder's repository; for a linked worktree also the main one's project and its place here."""
    top, main = _repository(here)
    if main is None:
        return top, "", ""
    there = main / here.relative_to(top)
    inside = (place for place in (there, *there.parents) if place.is_relative_to(main))
    shared = next((root for root in inside if memory_file(home, str(root)).is_file()), None)
    return (top, str(shared), str(top / shared.relative_to(main))) if shared else (top, "", "")


def _repository(here: Path) -> tuple[Path, Path | None]:
    """Return the top of the repository around a place, by default the place, and of a linked worktree the main one."""
    top = next((place for place in (here, *here.parents) if os.path.lexists(place / ".git")), here)
    return top, main_worktree(top) if (top / ".git").is_file() else None


def path_in(root: str, named: str) -> str:
    """Return a path as the memory of a project writes it: from the project's folder; empty for the folder itself.

    Of an absolute one links are followed; one in a linked worktree means the same place in the main one.

    Raises:
        InvalidRequest: it is absolute and lies outside of the project.
    """
    path = named.removeprefix("file:").strip()
    bare = path.removeprefix("./").strip("/")
    if not Path(path).is_absolute() or os.path.lexists(Path(root, bare)):  # some write `/src` for the project's folder
        return "" if bare == "." else bare
    real = Path(os.path.realpath(path.replace("\0", "")))
    top, main = _repository(real)
    for place in (real, *([main / real.relative_to(top)] if main is not None else [])):
        if place.is_relative_to(root):
            return "" if place == Path(root) else place.relative_to(root).as_posix()
    message = f"{path[:120]!r} lies outside of the project {root}; name a path inside it"
    raise InvalidRequest(message)


def path_from(home: Path, root: str, here: str, named: str, *, folders: bool = False) -> str:
    """Return a path that a person writes in a folder below a project's as the project writes it; else what was named.

    Only what is there is taken for a path: a file, or with `folders` a folder too.
    """
    known, worktree = _root_and_worktree(home, here)
    place, top = Path(os.path.realpath(here)), Path(worktree or known)
    if not known or known != root_of(home, root) or place == top or not place.is_relative_to(top):
        return named
    path = os.path.normpath(place / named)
    there = os.path.isfile(path) or (folders and os.path.isdir(path))  # noqa: PTH112, PTH113 - any text is no error
    meant = Path(path)
    return meant.relative_to(top).as_posix() if named and there and meant.is_relative_to(top) else named


def has_memory(environment: Mapping[str, str]) -> bool:
    """Tell whether the current project has a memory, without opening anything."""
    try:
        return bool(root_of(homes.locate(), current_project(environment)))
    except (HomeError, InvalidRequest, OSError):
        return False


def known_root(home: Path, folder: str) -> str:
    """Return the folder of the project that a folder lies in.

    Raises:
        ProjectRefused: no folder above it has a memory, or there is no such folder.
    """
    root = root_of(home, folder)
    if not root:
        require_folder(folder)
        message = f"{folder} has no project memory; `repertoire project init` in the project's folder makes one"
        raise ProjectRefused(message)
    return root


def require_folder(folder: str) -> None:
    """Refuse what is no folder.

    Raises:
        UnknownFolder: there is no such folder.
    """
    if not Path(folder).is_dir():
        message = f"{folder} is no folder; name the folder of a project"
        raise UnknownFolder(message)


def refuse_no_project(folder: str) -> None:
    """Refuse a folder that is no project: the person's own, or the root of the disk.

    Raises:
        ProjectRefused: it is one of these, does not exist, or cannot be read.
    """
    require_folder(folder)
    path = Path(folder)
    if not os.access(path, os.R_OK | os.X_OK):  # all of its files would seem gone
        message = f"{folder} cannot be read; change its permissions"
        raise ProjectRefused(message)
    if path.resolve() in (Path.home().resolve(), Path(path.resolve().anchor)):
        message = f"{folder} is no project: it would be read as a whole; go to the folder of one project"
        raise ProjectRefused(message)
