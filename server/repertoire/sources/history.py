"""Reads the dates of files from git: when each was first and last committed."""

from __future__ import annotations

import contextlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from repertoire.domain.errors import SourceError
from repertoire.sources import git
from repertoire.sources.address import key_of

_LOG_S = 20.0  # dates are worth no more than this; a huge repository goes without
_MARK = "\x01"


@dataclass(frozen=True)
class History:
    """What git knows of a folder; `dates` maps a path in it to its first and last commit date."""

    commit: str = ""
    remote: str = ""  # `host/owner/name` of the remote `origin`, where the folder is a repository's top
    dates: Mapping[str, tuple[str, str]] = field(default_factory=dict)
    exact: bool = True  # a shallow clone knows one commit: its date stands for the last of every file
    warning: str = ""


def read(folder: Path) -> History:
    """Return what git knows of a folder; an empty history where it is in no repository."""
    if not _in_repository(folder):
        return History()
    try:
        top = Path(git.run(["rev-parse", "--show-toplevel"], folder).strip()).resolve()
        shallow = git.is_shallow(folder)
        commit = git.head(folder)
        log = git.run(
            ["log", f"--format={_MARK}%cs", "--name-only", "--no-renames", "--relative", "-z"], folder, seconds=_LOG_S
        )
    except SourceError as error:
        return History(warning=f"no commit dates: {error}")
    dates = _dates(log)
    if shallow:
        dates = {path: ("", last) for path, (_, last) in dates.items()}
    remote = ""
    if top == folder.resolve():
        with contextlib.suppress(SourceError):
            remote = key_of(git.run(["config", "--get", "remote.origin.url"], folder).strip())
    return History(commit, remote if remote.count("/") >= 2 else "", dates, exact=not shallow)


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
