"""Reads the dates of files from git: when each was first and last committed."""

from __future__ import annotations

import contextlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from repertoire.domain.errors import SourceError
from repertoire.sources import git, repository
from repertoire.sources.address import key_of

_LOG_S = 20.0  # dates are worth no more than this; a huge repository goes without
_MARK = "\x01"


@dataclass(frozen=True)
class GitDates:
    """What git knows of a folder; `dates` maps a path in it to its first and last commit date."""

    commit: str = ""
    remote: str = ""  # `host/owner/name` of the remote `origin`, where the folder is a repository's top
    dates: Mapping[str, tuple[str, str]] = field(default_factory=dict)
    exact: bool = True  # a shallow clone knows one commit: its date stands for the last of every file
    warning: str = ""


def read(folder: Path, *, ours: bool = False) -> GitDates:
    """Return what git knows of a folder; an empty history where it is in no repository, with why where it is not read.

    Only the top of an ordinary clone has one; `ours` says that we cloned it.
    """
    if not _in_repository(folder):
        return GitDates()
    commit = remote = ""
    try:
        found = repository.look(folder, ours=ours)
        commit, remote = found.commit, _key(found.origin)
        with repository.lent(found) as place:
            log = git.read(["log", f"--format={_MARK}%cs", "--name-only", "--no-renames", "-z"], place, seconds=_LOG_S)
    except SourceError as error:
        return GitDates(commit, remote, warning=f"no commit dates: {error}")
    dates = _dates(log)
    if found.shallow:
        dates = {path: ("", last) for path, (_, last) in dates.items()}
    return GitDates(commit, remote, dates, exact=not found.shallow)


def _key(origin: str) -> str:
    with contextlib.suppress(ValueError):  # nothing holds a repository to an address that is one
        key = key_of(origin)
        return key if key.count("/") >= 2 else ""
    return ""


def _in_repository(folder: Path) -> bool:
    place = folder.resolve()
    return any((above / ".git").exists() for above in (place, *place.parents))


def _dates(log: str) -> dict[str, tuple[str, str]]:
    """Read a log whose newest commit comes first: the first date of a path is its last."""
    dates: dict[str, tuple[str, str]] = {}
    for block in log.split(_MARK):
        day, _, names = block.partition("\0")
        # between the date and the first name, -z leaves a newline
        for name in names.split("\0"):
            path = name.lstrip("\n")
            if path:
                dates[path] = (day.strip(), dates[path][1] if path in dates else day.strip())
    return dates
