"""Finds sources whose rows were lost again: by the clones and packages in the home, and names those of the log alone.

A clone's folder bears the hash of its source's key, so that what its own configuration or the log tells is proven right
or wrong. What only the log speaks of may have been removed by a person since: it is named, not read again.
"""

from __future__ import annotations

import contextlib
import os
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from repertoire.app.clock import now
from repertoire.app.places import clone_folder
from repertoire.app.project import project_folder
from repertoire.domain.component import SourceInfo
from repertoire.domain.errors import SourceError
from repertoire.sources import installed, repository
from repertoire.sources.address import ARCHIVE, FOLDER, PACKAGE, parse
from repertoire.store.database import Store

_PACKAGES = ("npm:", "pypi:")
_LOCAL = (f"{FOLDER}:", f"{ARCHIVE}:")
_REMOTE = re.compile(r"[\w-]+(?:\.[\w-]+)+/[^:]+")  # host/owner/name
_POINTER = re.compile(r":https?://.*")


@dataclass(frozen=True)
class Recovered:
    """The keys of sources that are known again, and what to ingest for those that only the log speaks of."""

    again: tuple[str, ...]
    lost: tuple[str, ...]


def recover(store: Store, home: Path) -> Recovered:
    """Make sources known again that nobody but their clones and the log knows of."""
    spoken_of = sorted({key for event in store.events.since(0, limit=-1) for key in _source_of(event.node)})
    known = {row.info.key for row in store.sources.all()}
    again = [info for info in _lying_there(home, spoken_of) if info.key not in known]
    for info in again:
        store.sources.remember(info, now=now())
    known |= {info.key for info in again}
    known |= {place.key for place in installed.look(os.environ, project=project_folder()).places}
    lost = (key.removeprefix(_LOCAL[0]).removeprefix(_LOCAL[1]) for key in spoken_of if key not in known)
    return Recovered(tuple(sorted(info.key for info in again)), tuple(lost))


def _source_of(node: str) -> Iterator[str]:
    """Yield the key of the source that a component's id names, where a person would have added it."""
    key = _POINTER.sub("", node) if _POINTER.search(node) else node.rpartition(":")[0]
    if key.startswith((*_PACKAGES, *_LOCAL)) or _REMOTE.fullmatch(key):
        yield key


def _lying_there(home: Path, spoken_of: Iterable[str]) -> Iterator[SourceInfo]:
    by_folder = {clone_folder(home, key): key for key in spoken_of}
    place = home / "sources"
    for folder in sorted(place.iterdir()) if place.is_dir() else ():
        key = by_folder.get(folder, "")
        if key.startswith(_PACKAGES):
            yield SourceInfo(key, PACKAGE, key)
        elif (folder / ".git").is_dir():
            yield from _cloned(home, folder)


def _cloned(home: Path, folder: Path) -> Iterator[SourceInfo]:
    with contextlib.suppress(SourceError):  # its own configuration may be damaged too, or what it names be gone
        told = parse(repository.origin(folder), trusted=True)
        if clone_folder(home, told.key) == folder:
            yield SourceInfo(told.key, "git", told.text, told.repository)
