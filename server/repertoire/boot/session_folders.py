"""Finds the folders from whose `.claude` Claude Code loads skills, commands, agents and settings in a session.

The session hook runs this with any Python from 3.9.
"""

from __future__ import annotations

import os
from pathlib import Path


def session_folders(project: str) -> list[Path]:
    """Return the project's folder and those above it up to its repository's, or up to the home folder; nearest first.

    So does Claude Code in its version 2.1.330, as `tests/client/test_loading.py` shows.
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


def local_folder(project: str) -> Path:
    """Return the folder whose local settings and state a session has: its repository's, or outside of one its own."""
    top = session_folders(project)[-1]
    return top if os.path.lexists(top / ".git") else Path(project)
