"""Records attempts of refreshes in a file, and decides when the next may run: after failures ever later."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field, replace
from datetime import datetime, timedelta, timezone
from pathlib import Path

from repertoire import __version__
from repertoire.app.clock import now
from repertoire.boot.private_file import write_json
from repertoire.ingestion.version import EXTRACTOR_VERSION

_FIRST, _LONGEST = timedelta(minutes=5), timedelta(days=1)  # waiting time after the first failure, and at most
_MOST_DOUBLED = 20  # times; beyond that no timedelta could hold the product
_MOST_PROJECTS = 500
_PARTS = (part for part in __version__.split(".") if part.isdigit())
_READER = (*map(int, _PARTS), EXTRACTOR_VERSION)  # what is greater brings another catalogue, and reads more
_RECORD = "refresh.json"
_FORMAT = "%Y-%m-%dT%H:%M:%SZ"


@dataclass(frozen=True)
class RefreshAttempt:
    """The newest refresh: its start, the end of the last successful one, and the number of failures since then."""

    started: str = ""
    finished: str = ""
    failures: int = 0
    projects: Mapping[str, str] = field(default_factory=dict)  # projects whose components were read, and when last
    reader: tuple[int, ...] = ()  # the version of this program that read; empty for those that did not write it yet


def newest_attempt(home: Path) -> RefreshAttempt:
    """Return the record of the newest refresh; a killed one counts as failed."""
    try:
        told = json.loads((home / _RECORD).read_text(encoding="utf-8"))
        newest = RefreshAttempt(str(told["started"]), str(told["finished"]), int(told["failures"]))
        projects = {str(path): str(at) for path, at in dict(told.get("projects", {})).items()}
        return replace(newest, projects=projects, reader=tuple(map(int, told.get("reader", ()))))
    except (OSError, ValueError, KeyError, TypeError):  # no refresh yet, or a damaged file
        return RefreshAttempt()


@contextlib.contextmanager
def attempted(home: Path, project: Path | None) -> Iterator[None]:
    """Record the start of a refresh in a project as failed, and at the end of the block its success."""
    before = newest_attempt(home)
    begun = replace(before, started=now(), failures=before.failures + 1)
    _keep(home, begun)
    yield
    still = newest_attempt(home)
    if still.started != begun.started:  # all was forgotten meanwhile, and is to be read anew
        return
    others = {path: at for path, at in still.projects.items() if path != str(project)}
    read = {**others, **({str(project): begun.started} if project is not None else {})}
    newest = dict(list(read.items())[-_MOST_PROJECTS:])
    _keep(home, RefreshAttempt(begun.started, now(), 0, newest, _READER))


def forget_attempts(home: Path) -> None:
    """Forget when what was read, and in which projects, so that all of it is read again, as in a new home.

    Raises: OSError when the record cannot be deleted.
    """
    (home / _RECORD).unlink(missing_ok=True)


def forget_project_attempt(home: Path, project: str) -> None:
    """Forget that the components of a project were read, and when.

    Raises: OSError when the record cannot be written.
    """
    known = newest_attempt(home)
    if project in known.projects:
        others = {path: at for path, at in known.projects.items() if path != project}
        write_json(home / _RECORD, asdict(replace(known, projects=others)))


def must_wait(attempt: RefreshAttempt, at: datetime) -> bool:
    """Return whether it is too early for another try; the waiting time doubles with each failure."""
    if not attempt.failures:
        return False
    waited = at - time_of(attempt.started)
    # A clock that was set back must not extend the waiting time.
    doubled = min(attempt.failures - 1, _MOST_DOUBLED)
    return timedelta() <= waited < min(_FIRST * (1 << doubled), _LONGEST)


def overdue(attempt: RefreshAttempt, hours: int, at: datetime) -> bool:
    """Return whether the last successful refresh is older than so many hours; with 0 hours never."""
    if not hours or not attempt.finished:
        return False
    ago = at - time_of(attempt.finished)
    return ago >= timedelta(hours=hours) or ago < -timedelta(hours=hours)


def is_outdated(attempt: RefreshAttempt) -> bool:
    """Return whether an older version than this one did the last successful refresh, as after an update.

    What a newer one read stays: two versions that run at once would else read everything anew in turn.
    """
    return bool(attempt.finished) and attempt.reader < _READER


def time_of(text: str) -> datetime:
    """Return a recorded moment; the earliest of all for a text that is none."""
    try:
        return datetime.strptime(text, _FORMAT).replace(tzinfo=timezone.utc)
    except ValueError:
        return datetime.min.replace(tzinfo=timezone.utc)


def _keep(home: Path, attempt: RefreshAttempt) -> None:
    with contextlib.suppress(OSError):  # a refresh must run even if its record cannot be written
        write_json(home / _RECORD, asdict(attempt))
