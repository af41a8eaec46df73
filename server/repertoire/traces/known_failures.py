"""Remembers commands that failed without a change since, and states that fact before such a command runs again."""

from __future__ import annotations

from dataclasses import replace

from repertoire.domain.text import clean_line
from repertoire.traces.expressions import expression
from repertoire.traces.invocations import Invocation, Shell, invocation_of
from repertoire.traces.problem import Failure, SessionTrace

_MOST, _HEADLINE, _COMMAND = 24, 160, 80
_MENDED = expression(
    r"""(?m)modified[ ]by[ ]this[ ]hook|^(?:reformatted|Fixing|Fixed)\b|\bfiles?[ ]reformatted\b|\[Corrected\]
    |\b[1-9]\d*[ ](?:fixed|offenses?[ ]corrected|snapshots?[ ](?:written|updated|removed))\b"""
)
_STALE = 4 * 3600.0  # seconds after which too much may have changed outside the session


def remember(failed: tuple[Failure, ...], here: Invocation, headline: str, at: float) -> tuple[Failure, ...]:
    """Return the failed commands with this one added."""
    before = next((each for each in failed if each.key == here.key), None)
    times = before.times + 1 if before and before.folder == here.folder else 1
    now = Failure(here.key, here.line, clean_line(headline, _HEADLINE), at, times, here.folder)
    return (*(each for each in failed if each is not before), now)[-_MOST:]


def settle(failed: tuple[Failure, ...], here: Invocation) -> tuple[Failure, ...]:
    """Return the failed commands without this one, which has passed."""
    return tuple(each for each in failed if each.key != here.key)


def after_command(failed: tuple[Failure, ...], here: Invocation, printed: str, *, ended: bool) -> tuple[Failure, ...]:
    """Return the failures since which nothing has changed after a command: all of them only if it surely reads.

    Its own failure stays, to be counted, if it has `ended` and did not repair what it found.
    """
    mended = has_mended(here, printed)
    if here.reads and not mended:
        return failed
    return tuple(each for each in failed if each.key == here.key and ended and not mended)


def has_mended(here: Invocation, printed: str) -> bool:
    """Tell whether a command, even if it failed, may itself have changed what made it fail."""
    return here.mends or (bool(here.parts) and _MENDED.search(printed) is not None)


def failed_before(session: SessionTrace, command: str, shell: Shell, now: float, *, place: str = "") -> Failure | None:
    """Return the earlier failure of a command in the same place if nothing was changed since, or None.

    Only changes within the session are known, not edits from outside.
    """
    if not session.failed:
        return None
    here = invocation_of(command, shell)
    folder = place or here.folder
    known = next((each for each in session.failed if each.key == here.key and each.folder == folder), None)
    return known if known is not None and 0 <= now - known.at <= _STALE else None


def changed(session: SessionTrace) -> SessionTrace:
    """Return the session after a change that hooks do not report: all known failures are dropped."""
    return replace(session, failed=())


def fact(failure: Failure, now: float) -> str:
    """Return one line that states the earlier failure and gives no order."""
    minutes = max(0, round((now - failure.at) / 60))
    when = f"{minutes} min ago" if minutes else "just now"
    often = f"failed here {failure.times} times, last {when}" if failure.times > 1 else f"failed here {when}"
    said = f" with: {failure.headline}" if failure.headline else ""
    return (
        f"`{clean_line(failure.line, _COMMAND)}` {often}{said}; no change of code, packages or settings is known since."
    )
