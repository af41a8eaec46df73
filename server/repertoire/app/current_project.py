"""Finds the folder of the current project; every door and every verb uses this definition."""

from __future__ import annotations

import contextlib
import errno
import os
from collections.abc import Mapping
from pathlib import Path

from repertoire.domain.errors import InvalidRequest
from repertoire.domain.text import sendable

_NAMED = "CLAUDE_PROJECT_DIR"  # Claude Code sets it


def current_project(environment: Mapping[str, str] = os.environ) -> str:
    """Return the current project's folder as hooks write it: `CLAUDE_PROJECT_DIR`, or else the working directory.

    Raises:
        InvalidRequest: the working directory does not exist any more, or its name is not UTF-8.
    """
    return _storable(environment.get(_NAMED) or current_folder())


def current_folder() -> str:
    """Return the working directory.

    Raises:
        InvalidRequest: it does not exist any more.
    """
    try:
        return os.getcwd()  # noqa: PTH109
    except FileNotFoundError:
        message = "the current folder does not exist any more; change into one that does"
        raise InvalidRequest(message) from None


def session_project(folder: str) -> str:
    """Return the project of a session that works in a folder: the client's, since a `cd` moves the session alone."""
    return sendable(os.environ.get(_NAMED) or folder)


def keep_project() -> None:
    """Let the project of a process stay the current one even if its folder is removed."""
    with contextlib.suppress(InvalidRequest):
        os.environ[_NAMED] = current_project()


def resolve_project(folder: str) -> str:
    """Return the absolute path of a named project's folder, as hooks write it; without a name, of the current one.

    Raises:
        InvalidRequest: no folder can have this name, or without a name the current folder was removed.
    """
    if "\0" in folder:
        message = "a project's folder cannot contain a NUL character; send its path"
        raise InvalidRequest(message)
    if not folder:
        return current_project()
    path = os.path.realpath(os.path.expanduser(folder))  # noqa: PTH111
    try:
        os.lstat(path)
    except OSError as error:
        if error.errno == errno.ENAMETOOLONG:
            message = f"the name of the folder {folder[:80]!r}… is too long for any folder; send its path"
            raise InvalidRequest(message) from None
    return _storable(path)


def _storable(folder: str) -> str:
    if folder != sendable(folder):
        message = f"the name of the folder {folder!r} is not UTF-8; rename it, or work in another one"
        raise InvalidRequest(message)
    return folder


def project_folder() -> Path | None:
    """Return the current project's folder; None where this is the home directory or the root of the disk.

    Raises:
        InvalidRequest: the working directory does not exist any more, or its name is not UTF-8.
    """
    folder = Path(current_project()).resolve()
    return None if folder in (Path.home().resolve(), Path(folder.anchor)) else folder
