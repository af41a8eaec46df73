"""Reads signals of success and failure from prompts and shell commands: corrected, undone, checked."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from repertoire.domain.event import CHECKED, UNDONE
from repertoire.learning.checks import is_check
from repertoire.learning.corrections import asks, corrects
from repertoire.learning.prompts import is_command
from repertoire.learning.shell import ShellCommand, commands, is_outside, place_of
from repertoire.learning.undoing import restores_stash, undoes

__all__ = ["asks", "corrects", "is_command", "is_outside", "place_of", "signal_of_call", "signal_of_command"]

_READ = 4_000  # characters at the end of a command's output, where checks print their summary
_PASSED = re.compile(
    r"""\b[1-9]\d*\ (?:tests?\ )?pass(?:ed|ing)\b | ^OK\b | \bSuccess:\ no\ issues | \bAll\ checks\ passed
    | \btest\ result:\ ok\b | ^ok\s+\S+ | \bBUILD\ SUCCESS | \b(?:0|no)\ (?:errors?|failures?|problems|issues)\b
    | ^PASS\b | \bPassed!""",
    re.VERBOSE | re.MULTILINE,
)
_FAILED = re.compile(
    r"""\b[1-9]\d*\ (?:tests?\ )?(?:failed|failing|failures?|errors?|problems?|issues)\b | \bFAIL(?:ED|URE|URES)?\b
    | \berror(?:\[|:|\ TS) | ^Error\b | \bTraceback\b | ^not\ ok\b | ^(?:Killed|Terminated|Aborted)\b | \bErrors:\ [1-9]
    | (?i:command\ not\ found|no\ such\ file)""",
    re.VERBOSE | re.MULTILINE,
)
_STATUS = re.compile(r"(\d+)\W*\Z")


def signal_of_call(arguments: Mapping[str, Any], response: Mapping[str, Any]) -> str:
    """Return UNDONE, CHECKED or empty for a finished call of the client's shell tool; empty while it still runs."""
    if arguments.get("run_in_background") or response.get("backgroundTaskId") or response.get("interrupted"):
        return ""
    printed = "\n".join(str(response.get(stream, ""))[-_READ:] for stream in ("stderr", "stdout"))
    return signal_of_command(str(arguments.get("command", "")), printed)


def signal_of_command(command: str, printed: str = "") -> str:
    """Return the signal of a successful shell command: UNDONE, CHECKED or empty.

    If other commands hide the exit status of a check (`pytest | tail`), the printed output must say that it passed.
    """
    ran = commands(command)
    if any(undoes(each.words) for each in ran if each.begun) and not any(restores_stash(each.words) for each in ran):
        return UNDONE
    checks = [each for each in ran if is_check(each.words)]
    return CHECKED if checks and _passed(ran, checks, printed) else ""


def _passed(ran: Sequence[ShellCommand], checks: Sequence[ShellCommand], printed: str) -> bool:
    if all(check.sure for check in checks):
        return True
    if not printed.strip() or _FAILED.search(printed):
        return False
    return (
        any(check.sure for check in checks) or _PASSED.search(printed) is not None or _told_zero(ran, checks, printed)
    )


def _told_zero(ran: Sequence[ShellCommand], checks: Sequence[ShellCommand], printed: str) -> bool:
    """Tell whether an `echo $?` directly behind the only check printed 0."""
    if len(checks) > 1 or checks[0].piped or ran[-1].words[0] not in ("echo", "printf"):
        return False
    status = _STATUS.search(printed.strip())
    follows = list(ran[-2:-1]) == list(checks) and any("$?" in word for word in ran[-1].words)
    return follows and status is not None and int(status[1]) == 0
