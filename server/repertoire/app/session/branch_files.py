"""Tells since when a project's branch is worked on, from git's own files: git is not started.

The session hook runs this with any Python from 3.9.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path

_DAYS = 3 * 86_400.0  # without a branch of its own, what was changed lately counts
_MAIN = ("main", "master", "trunk", "develop")
_CHECKED_OUT = 60.0  # after a worktree was made, in which its files are written
_LONGEST_LOG = 65_536  # bytes of a reflog's beginning, of which its first line is read


def changed_on_branch(root: Path, paths: Iterable[str], *, now: float) -> list[str]:
    """Return those of the files that were written since the branch was made; lately, where it is the main branch.

    A clone or checkout writes many files at once: where all of several files are that new, none counts.
    """
    since = _branched(root) or now - _DAYS
    wanted = [*dict.fromkeys(paths)]
    new = [path for path in wanted if _written(root, path) > since]
    return [] if len(wanted) > 1 and len(new) == len(wanted) and _all_at_once(root, new) else new


def _branched(root: Path) -> float:
    """Return when the current branch was made; 0 for the main branch, or if git's files do not tell."""
    try:
        folder = _git_folder(root)
        head = (folder / "HEAD").read_text(encoding="utf-8").strip()
        name = head.partition("refs/heads/")[2]
        if not name or name in _MAIN or ".." in name:
            return 0.0
        with (_common(folder) / "logs" / "refs" / "heads" / name).open("rb") as log:
            first = log.readline(_LONGEST_LOG).decode("utf-8", "replace")
        made = float(first.partition("\t")[0].split()[-2])  # old, new, name, <address>, seconds, zone
        return made if folder == root / ".git" else max(made, os.stat(root / ".git").st_mtime + _CHECKED_OUT)  # noqa: PTH116
    except (OSError, ValueError, IndexError):
        return 0.0


def _git_folder(root: Path) -> Path:
    """Return the folder of git's files: `.git`, or where that file of a worktree points."""
    marker = root / ".git"
    if marker.is_dir():
        return marker
    pointed = marker.read_text(encoding="utf-8").partition("gitdir:")[2].strip()
    return root / pointed


def _common(folder: Path) -> Path:
    shared = folder / "commondir"
    return folder / shared.read_text(encoding="utf-8").strip() if shared.is_file() else folder


def _written(root: Path, path: str) -> float:
    try:
        return os.stat(root / path, follow_symlinks=False).st_mtime  # noqa: PTH116 - a start has no time for more
    except (OSError, ValueError):
        return 0.0


def _all_at_once(root: Path, paths: Iterable[str]) -> bool:
    times = [_written(root, path) for path in paths]
    return max(times) - min(times) < 60.0
