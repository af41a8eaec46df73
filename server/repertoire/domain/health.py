"""The finding of one health check of the installation: ok, a warning or a failure, and how to mend it."""

from __future__ import annotations

from dataclasses import dataclass

OK, WARN, FAIL = "ok", "warn", "fail"


@dataclass(frozen=True)
class Finding:
    """One line of `repertoire doctor`; `mend` says what to do, and is empty if nothing is to be done."""

    check: str
    state: str
    text: str
    mend: str = ""


def finding_of(check: str, state: str, message: str) -> Finding:
    """Make a finding of one of our error messages, which say after their last semicolon what to do."""
    text, _, mend = message.rpartition("; ")
    return Finding(check, state, text or message, mend if text else "")
