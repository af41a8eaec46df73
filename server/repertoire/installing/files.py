"""Reads the files of a component for copying: regular files only, within bounds, and through no link in it."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from repertoire.domain.errors import SourceError

MOST_FILES, MOST_BYTES = 2_000, 64_000_000
_LEFT = frozenset((".git", ".DS_Store", "__pycache__", "node_modules"))


@dataclass(frozen=True)
class ComponentFile:
    """A file of a component: its path in the component, its content, and whether it is executable."""

    path: str
    content: bytes
    runs: bool


def gather(source: Path, within: Path, *, whole: bool) -> tuple[tuple[ComponentFile, ...], tuple[str, ...]]:
    """Read the files of a component; return them, and the paths of links, which are left out.

    A whole component may be a link itself, as one that a plugin shares with others of its source: the client follows
    it, too.

    Raises:
        SourceError: the component does not exist, leads out of its source, or is too large to be copied.
    """
    if not source.resolve().is_relative_to(within.resolve()) or (source.is_symlink() and not whole):
        message = f"{source} leads out of {within}, where its source lies; see where it leads, and copy it by hand"
        if not Path(os.path.normpath(source)).is_relative_to(within):  # its line was written for another home
            message = f"{source} is not in {within}, where its source lies now; `repertoire ingest` its source again"
        raise SourceError(message)
    try:
        if not whole:
            return (_read(source, source.name),), ()
        return _of_folder(source.resolve())
    except OSError as error:
        message = f"{source} cannot be read ({error.strerror}); `repertoire ingest` its source again"
        raise SourceError(message) from error


def _of_folder(source: Path) -> tuple[tuple[ComponentFile, ...], tuple[str, ...]]:
    found: list[ComponentFile] = []
    links: list[str] = []
    size = 0
    for path in _walk(source):
        shown = path.relative_to(source).as_posix()
        if path.is_symlink():
            links.append(shown)
            continue
        found.append(_read(path, shown))
        size += len(found[-1].content)
        if len(found) > MOST_FILES or size > MOST_BYTES:
            message = f"{source} holds more than {MOST_FILES:,} files or {MOST_BYTES // 1_000_000} MB; copy it by hand"
            raise SourceError(message)
    return tuple(found), tuple(links)


def _walk(source: Path) -> Iterator[Path]:
    for above, folders, names in os.walk(source, onerror=_raise):
        here = Path(above)
        yield from (here / name for name in sorted(folders) if (here / name).is_symlink())
        folders[:] = sorted(name for name in folders if name not in _LEFT and not (here / name).is_symlink())
        yield from (here / name for name in sorted(names) if name not in _LEFT)


def _raise(error: OSError) -> None:
    raise error


def _read(path: Path, shown: str) -> ComponentFile:
    # the file may have become a link or a pipe since it was listed
    careful = getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
    with open(path, "rb", opener=lambda name, flags: os.open(name, flags | careful)) as stream:
        state = os.fstat(stream.fileno())
        if not stat.S_ISREG(state.st_mode) or state.st_size > MOST_BYTES:
            message = f"{path} is no plain file, or too large; copy it by hand"
            raise SourceError(message)
        return ComponentFile(shown, stream.read(MOST_BYTES), bool(state.st_mode & stat.S_IXUSR))
