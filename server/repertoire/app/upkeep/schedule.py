"""Remembers when a refresh was last tried and how that went: it comes again in time, and after failures ever later."""

from __future__ import annotations

import contextlib
import json
import os
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from datetime import datetime, timedelta, timezone
from pathlib import Path

from repertoire.app.clock import now

_FIRST, _LONGEST = timedelta(minutes=5), timedelta(days=1)
_MOST_FAILURES = 20
_FORMAT = "%Y-%m-%dT%H:%M:%SZ"


@dataclass(frozen=True)
class Attempt:
    """The newest refresh: when it began, when the last good one ended, and how many failed since that."""

    started: str = ""
    finished: str = ""
    failures: int = 0


def newest_attempt(home: Path) -> Attempt:
    """Return what is known of the newest refresh; one that was killed counts as failed."""
    try:
        told = json.loads((home / "refresh.json").read_text(encoding="utf-8"))
        return Attempt(str(told["started"]), str(told["finished"]), int(told["failures"]))
    except (OSError, ValueError, KeyError, TypeError):  # none yet, or cut off: as if none had been
        return Attempt()


@contextlib.contextmanager
def attempted(home: Path) -> Iterator[None]:
    """Note that a refresh begins, and that it ended well if it does; it is called failed until then."""
    before = newest_attempt(home)
    begun = Attempt(now(), before.finished, min(before.failures + 1, _MOST_FAILURES))
    _keep(home, begun)
    yield
    _keep(home, Attempt(begun.started, now(), 0))


def held_off(attempt: Attempt, at: datetime) -> bool:
    """Tell whether it is too early to try again: after each failure twice as long as after the one before."""
    if not attempt.failures:
        return False
    waited = at - _time(attempt.started)
    # A clock that was set back must not hold it off for longer than it ever would.
    return timedelta() <= waited < min(_FIRST * (1 << (attempt.failures - 1)), _LONGEST)


def overdue(attempt: Attempt, hours: int, at: datetime) -> bool:
    """Tell whether the last good refresh is as long ago as a person has set; 0 hours: never by time alone."""
    if not hours or not attempt.finished:
        return False
    ago = at - _time(attempt.finished)
    return ago >= timedelta(hours=hours) or ago < -timedelta(hours=hours)


def _time(text: str) -> datetime:
    try:
        return datetime.strptime(text, _FORMAT).replace(tzinfo=timezone.utc)
    except ValueError:
        return datetime.min.replace(tzinfo=timezone.utc)


def _keep(home: Path, attempt: Attempt) -> None:
    beside = home / f"refresh.json.{os.getpid()}"
    with contextlib.suppress(OSError):  # what it is for is to spare work, and no reason to do none
        try:
            beside.write_text(json.dumps(asdict(attempt)), encoding="utf-8")
            beside.replace(home / "refresh.json")
        finally:
            beside.unlink(missing_ok=True)  # a full disk leaves a part of it
