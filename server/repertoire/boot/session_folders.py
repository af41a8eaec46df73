"""Finds the folders from whose `.claude` Claude Code loads skills, commands, agents and settings in a session.

The session hook runs this with any Python from 3.9.
"""

from __future__ import annotations

import os
from pathlib import Path


def session_folders(project: str) -> list[Path]:
    """Return the project's folder and those above it up to its repository's, or up to the home folder; nearest first.

    So does Claude Code in its version 2.1.332, as `tests/client/test_loading.py` shows.
    """
    found: list[Path] = []
    home = os.path.expanduser("~")  # noqa: PTH111 - it never fails
    for folder in (Path(project), *Path(project).parents):
        if found and str(folder) == home:
            break
        found.append(folder)
        if str(folder) == home or os.path.lexists(folder / ".git"):
            break
    return found


def in_main_worktree(folders: list[Path]) -> list[Path]:
    """Return the same folders of the main worktree, of those up to the top of a linked one; none elsewhere."""
    main = main_worktree(folders[-1])
    return [main / folder.relative_to(folders[-1]) for folder in folders] if main is not None else []


def local_folder(project: str) -> Path:
    """Return the folder whose local settings and state a session has: its repository's, or outside of one its own.

    All worktrees of a repository have those of its main one, as `tests/client/test_withheld.py` shows.
    """
    top = session_folders(project)[-1]
    return main_worktree(top) or top if os.path.lexists(top / ".git") else Path(project)


def main_worktree(worktree: Path) -> Path | None:
    """Return the main worktree of the repository that a linked worktree belongs to; None where it belongs to none.

    Git's files of both sides must name each other: a stranger's file cannot claim another repository.
    """
    try:
        named = (worktree / ".git").read_text(encoding="utf-8").partition("gitdir:")[2].strip()
        ours = Path(os.path.realpath(worktree / named))
        back = (ours / "gitdir").read_text(encoding="utf-8").strip()
        shared = Path(os.path.realpath(ours / (ours / "commondir").read_text(encoding="utf-8").strip()))
    except (OSError, ValueError):
        return None
    mutual = os.path.realpath(ours / back) == os.path.realpath(worktree / ".git")
    return shared.parent if mutual and shared.name == ".git" and ours.is_relative_to(shared) else None
