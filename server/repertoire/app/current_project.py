"""Finds the folder of the current project; every door and every verb uses this definition."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

from repertoire.domain.errors import InvalidRequest


def current_project(environment: Mapping[str, str] = os.environ) -> str:
    """Return the current project's folder as hooks write it: `CLAUDE_PROJECT_DIR`, or else the working directory."""
    return environment.get("CLAUDE_PROJECT_DIR") or os.getcwd()  # noqa: PTH109


def resolve_project(folder: str, environment: Mapping[str, str] = os.environ) -> str:
    """Return the absolute path of a named project's folder, as hooks write it; without a name, of the current one.

    Raises:
        InvalidRequest: the name contains a NUL character.
    """
    if "\0" in folder:
        message = "a project's folder cannot contain a NUL character; send its path"
        raise InvalidRequest(message)
    return os.path.realpath(os.path.expanduser(folder)) if folder else current_project(environment)  # noqa: PTH111


def project_folder() -> Path | None:
    """Return the current project's folder; None where this is the home directory or the root of the disk."""
    folder = Path(current_project()).resolve()
    return None if folder in (Path.home().resolve(), Path(folder.anchor)) else folder
