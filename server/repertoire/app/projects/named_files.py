"""Finds the files of a project that are said to have changed, by the rules by which all of them are found."""

from __future__ import annotations

import os
from collections.abc import Collection
from pathlib import Path

from repertoire.app.projects.left_out import DECIDING
from repertoire.sources import crawl
from repertoire.sources.crawl import FoundFile


def say_all(root: Path, paths: Collection[str]) -> bool:
    """Tell whether no other file is concerned: none of the paths is a folder or decides what is ignored."""
    return not any(
        path.rpartition("/")[2] in DECIDING or (crawl.is_folder(root / path) and not (root / path).is_symlink())
        for path in paths
    )


def named_files(root: Path, paths: Collection[str], ignored: crawl.Ignored) -> list[FoundFile]:
    """Return those of the paths that are files of the project: regular, not ignored, reached through no link."""
    found = []
    for path in sorted(paths):
        location = root / path
        if crawl.is_file(location) and is_read(root, path, ignored):
            found.append(FoundFile.at(location, path))
    return found


def is_read(root: Path, path: str, ignored: crawl.Ignored) -> bool:
    """Tell whether a walk of the project would come to a file or folder with this path."""
    parts = path.split("/")
    if any(crawl.is_unread(part) for part in parts[:-1]) or os.path.normpath(path) != path:
        return False
    above = ["/".join(parts[:end]) for end in range(1, len(parts))]
    if any(ignored(one, True) for one in above) or ignored(path, crawl.is_folder(root / path)):  # noqa: FBT003
        return False
    return not any((root / one).is_symlink() for one in (*above, path))


def lies_in(path: str, among: Collection[str]) -> bool:
    """Tell whether a path is one of some, or lies below one."""
    while path:
        if path in among:
            return True
        path = path.rpartition("/")[0]
    return False
