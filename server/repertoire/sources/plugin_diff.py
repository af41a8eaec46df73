"""Compares installed plugins byte by byte with their marketplace's clone; changes and fetches nothing."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from repertoire.domain.errors import SourceError
from repertoire.domain.text import few
from repertoire.sources import git, repository
from repertoire.sources.installed import Installation, installations

CURRENT, OUTDATED, MODIFIED, GONE, UNKNOWN = "current", "outdated", "modified", "gone", "unknown"
# Names that running a plugin leaves behind, or that are not copied when it is installed.
_PASSED = frozenset((".git", ".venv", "venv", "node_modules", "__pycache__", ".DS_Store"))
_CLIENTS = frozenset((".in_use",))  # a file that Claude Code puts at a plugin's top, with the processes that run it
_FILES, _BYTES = 5_000, 100_000_000
_CHUNK = 1 << 20
_NAMED = 3


@dataclass(frozen=True)
class InstalledCopy:
    """The state of an installed plugin (current, outdated, modified, …) against its marketplace's clone."""

    name: str  # `plugin@marketplace`
    state: str
    detail: str = ""
    sure: bool = True  # False if the clone's history is too short to tell an old copy from one that was changed here


def compare(environment: Mapping[str, str], *, only: str = "") -> tuple[InstalledCopy, ...]:
    """Compare all installed plugins, or only the named one, with the clones of their marketplaces."""
    known: dict[Path, _Past] = {}
    chosen = (installation for installation in installations(environment) if not only or installation.name == only)
    return tuple(_compared(installation, known) for installation in chosen)


class _TooLarge(Exception):
    pass


@dataclass(frozen=True)
class _Past:
    """The blobs of a clone's history, its newest commit, and whether the history is complete."""

    blobs: frozenset[str] = frozenset()
    head: str = ""
    complete: bool = False


def _compared(installation: Installation, known: dict[Path, _Past]) -> InstalledCopy:
    name, origin = installation.name, installation.origin
    if installation.elsewhere:
        return InstalledCopy(name, UNKNOWN, "its marketplace only points to where it comes from")
    gone = _gone(installation)
    if gone or origin is None:
        return InstalledCopy(name, GONE, gone)
    try:
        here, there = _files(installation.location), _files(origin)
        return _judged(installation, here, there, known)
    except _TooLarge:
        return InstalledCopy(name, UNKNOWN, f"it holds more than {_FILES} files or {_BYTES // 1_000_000} MB")
    except OSError as error:
        return InstalledCopy(name, UNKNOWN, f"it cannot be read ({error.strerror})")


def _gone(installation: Installation) -> str:
    """Return in a few words what is gone first: the plugin, its marketplace or its original; empty if all exist."""
    if not installation.location.is_dir():
        return "its files are not where it was installed"
    if installation.market is None:
        return "its marketplace is not on this machine"
    if installation.origin is None:
        return "its marketplace lists it no more"
    return "" if installation.origin.is_dir() else "its marketplace lists it and does not hold it"


def _judged(
    installation: Installation, here: Mapping[str, Path], there: Mapping[str, Path], known: dict[Path, _Past]
) -> InstalledCopy:
    name, market = installation.name, installation.market or installation.location
    changed = sorted(path for path in here.keys() & there.keys() if not _equal(here[path], there[path]))
    added, missing = sorted(here.keys() - there.keys()), sorted(there.keys() - here.keys())
    differing = [*changed, *added, *missing]
    if not differing:
        return InstalledCopy(name, CURRENT)
    if market not in known:
        known[market] = _past(market)
    past = known[market]
    own = [path for path in [*changed, *added] if _blob(here[path], past.blobs) not in past.blobs]
    behind = InstalledCopy(name, OUTDATED, f"{few(differing, _NAMED)}: not as the marketplace has it now")
    if not own:
        return behind
    as_installed = bool(past.head) and installation.commit == past.head
    if not past.complete and not as_installed:
        return replace(behind, sure=False)
    too = "; it is behind as well" if len(differing) > len(own) and not as_installed else ""
    return InstalledCopy(name, MODIFIED, f"{few(own, _NAMED)}: changed here{too}")


def _files(folder: Path) -> dict[str, Path]:
    """List the files of a folder by their relative path; a link is a file whose content is its target."""
    found: dict[str, Path] = {}
    room = _BYTES
    for path in _walk(folder):
        found[path.relative_to(folder).as_posix()] = path
        room -= path.lstat().st_size
        if len(found) > _FILES or room < 0:
            raise _TooLarge
    return found


def _walk(folder: Path) -> Iterator[Path]:
    for place, folders, names in os.walk(folder):
        links = [name for name in folders if (Path(place) / name).is_symlink()]
        passed = _PASSED | _CLIENTS if place == str(folder) else _PASSED
        folders[:] = [name for name in folders if name not in passed and name not in links]
        for name in (*names, *links):
            path = Path(place) / name
            if name not in passed and (path.is_symlink() or path.is_file()):
                yield path


def _equal(one: Path, other: Path) -> bool:
    if one.is_symlink() or other.is_symlink():
        return one.is_symlink() and other.is_symlink() and one.readlink() == other.readlink()
    if one.stat().st_size != other.stat().st_size:
        return False
    return all(mine == its for mine, its in zip(_chunks(one), _chunks(other), strict=True))


def _chunks(path: Path) -> Iterator[bytes]:
    with path.open("rb") as file:
        while chunk := file.read(_CHUNK):
            yield chunk


def _blob(path: Path, like: Iterable[str]) -> str:
    """Return git's object name of a file's content, with the repository's hash algorithm."""
    wide = len(next(iter(like), "")) == 64
    own = hashlib.sha256() if wide else hashlib.sha1(usedforsecurity=False)
    if path.is_symlink():
        target = os.fsencode(path.readlink())
        own.update(b"blob %d\0" % len(target) + target)
        return own.hexdigest()
    own.update(b"blob %d\0" % path.stat().st_size)
    for chunk in _chunks(path):
        own.update(chunk)
    return own.hexdigest()


def _past(market: Path) -> _Past:
    """Read all blobs in a clone's repository, those of older versions included; empty if it cannot be read."""
    try:
        found = repository.look(market)
        with repository.lent(found) as place:
            listed = git.read(["cat-file", "--batch-all-objects", "--batch-check=%(objecttype) %(objectname)"], place)
    except SourceError:
        return _Past()
    blobs = frozenset(name for kind, _, name in (line.partition(" ") for line in listed.splitlines()) if kind == "blob")
    return _Past(blobs, found.commit, not found.shallow)
