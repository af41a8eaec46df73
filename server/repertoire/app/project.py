"""Knows the folder of the project at hand: the one definition that every door and every verb asks."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

from repertoire.domain.errors import InvalidRequest


def present_project(environment: Mapping[str, str] = os.environ) -> str:
    """Return the folder of the project at hand, as hooks write it: the client names it, or we are in it."""
    return environment.get("CLAUDE_PROJECT_DIR") or os.getcwd()  # noqa: PTH109


def project_named(folder: str, environment: Mapping[str, str] = os.environ) -> str:
    """Return a project's folder as hooks would write it, wherever it is named from; the one at hand if none is.

    Raises:
        InvalidRequest: no folder can be called that.
    """
    if "\0" in folder:
        message = "a project's folder has no NUL in its name; send its path"
        raise InvalidRequest(message)
    return os.path.realpath(os.path.expanduser(folder)) if folder else present_project(environment)  # noqa: PTH111


def project_folder() -> Path | None:
    """Return the folder of the project at hand; None where that is the whole home or disk."""
    folder = Path(present_project()).resolve()
    return None if folder in (Path.home().resolve(), Path(folder.anchor)) else folder
