"""Reads the dates of files from git: when each was first and last committed."""

from __future__ import annotations

import contextlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from repertoire.domain.errors import SourceError
from repertoire.sources import git, repository
from repertoire.sources.address import client_address, key_of

_LOG_S = 20.0  # dates are worth no more than this; a huge repository goes without
_MARK = "\x01"


@dataclass(frozen=True)
class GitDates:
    """The git history of a folder; `dates` maps each path in it to its first and last commit date."""

    commit: str = ""
    remote: str = ""  # `host/owner/name` of the remote `origin`, if the folder is a repository's top
    client_address: str = ""  # the remote's address as Claude Code takes it
    dates: Mapping[str, tuple[str, str]] = field(default_factory=dict)
    exact: bool = True  # False for a shallow clone, whose one commit dates every file
    warning: str = ""


def read(folder: Path, *, ours: bool = False) -> GitDates:
    """Read the commit dates of a folder's files; empty, with a warning if git refuses it, if there is no repository.

    Only the top folder of an ordinary clone is read; `ours` says that we cloned it.
    """
    if repository.top_of(folder.resolve()) is None:
        return GitDates()
    commit = remote = address = ""
    try:
        found = repository.look(folder, ours=ours)
        commit, (remote, address) = found.commit, _named(found.origin)
        with repository.lent(found) as place:
            log = git.read(["log", f"--format={_MARK}%cs", "--name-only", "--no-renames", "-z"], place, seconds=_LOG_S)
    except SourceError as error:
        return GitDates(commit, remote, address, warning=f"no commit dates: {error}")
    dates = _dates(log)
    if found.shallow:
        dates = {path: ("", last) for path, (_, last) in dates.items()}
    return GitDates(commit, remote, address, dates, exact=not found.shallow)


def _named(origin: str) -> tuple[str, str]:
    """Return the key of a remote and its address as Claude Code takes it."""
    with contextlib.suppress(ValueError):  # a repository's configuration may hold any text as its address
        key = key_of(origin)
        return (key, client_address(origin)) if key.count("/") >= 2 else ("", "")
    return "", ""


def _dates(log: str) -> dict[str, tuple[str, str]]:
    """Parse a git log, the newest commit first, into the first and last date of each path."""
    dates: dict[str, tuple[str, str]] = {}
    for block in log.split(_MARK):
        day, _, names = block.partition("\0")
        # between the date and the first name, -z leaves a newline
        for name in names.split("\0"):
            path = name.lstrip("\n")
            if path:
                dates[path] = (day.strip(), dates[path][1] if path in dates else day.strip())
    return dates
