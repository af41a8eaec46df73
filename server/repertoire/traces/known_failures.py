"""Remembers which commands failed with nothing changed since, and tells it of one that is about to run: one fact."""

from __future__ import annotations

from dataclasses import replace

from repertoire.domain.text import clean_line
from repertoire.traces.invocations import Invocation, Shell, invocation_of
from repertoire.traces.problem import Failure, SessionTrace

_MOST, _HEADLINE, _COMMAND = 24, 160, 80
_STALE = 4 * 3600.0  # seconds: outside the session's sight too much may have changed


def remember(failed: tuple[Failure, ...], here: Invocation, headline: str, at: float) -> tuple[Failure, ...]:
    """Return the failed commands with one more."""
    before = next((each for each in failed if each.key == here.key), None)
    times = before.times + 1 if before else 1
    now = Failure(here.key, here.line, clean_line(headline, _HEADLINE), at, times)
    return (*(each for each in failed if each is not before), now)[-_MOST:]


def settle(failed: tuple[Failure, ...], here: Invocation) -> tuple[Failure, ...]:
    """Return the failed commands without one that passes."""
    return tuple(each for each in failed if each.key != here.key)


def failed_before(session: SessionTrace, command: str, shell: Shell, now: float) -> Failure | None:
    """Return how a command failed here before, where no edit and no other change came since; None otherwise.

    It is the session's own knowledge: of edits by other hands it knows nothing.
    """
    if not session.failed:
        return None
    here = invocation_of(command, shell)
    known = next((each for each in session.failed if each.key == here.key), None)
    return known if known is not None and 0 <= now - known.at <= _STALE else None


def changed(session: SessionTrace) -> SessionTrace:
    """Return the session after a change that no hook tells of: no failure is known to stand any more."""
    return replace(session, failed=())


def fact(failure: Failure, now: float) -> str:
    """Return one line that states what happened, and asks for nothing."""
    minutes = max(0, round((now - failure.at) / 60))
    when = f"{minutes} min ago" if minutes else "just now"
    often = f"failed here {failure.times} times, last {when}" if failure.times > 1 else f"failed here {when}"
    said = f" with: {failure.headline}" if failure.headline else ""
    return (
        f"`{clean_line(failure.line, _COMMAND)}` {often}{said}; no change of code, packages or settings is known since."
    )
