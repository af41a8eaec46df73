"""What one check of the installation found: all well, worth knowing, or broken, and how it is mended."""

from __future__ import annotations

from dataclasses import dataclass

OK, WARN, FAIL = "ok", "warn", "fail"


@dataclass(frozen=True)
class Finding:
    """One line of `repertoire doctor`; `mend` is what to do, empty where nothing is to be done."""

    check: str
    state: str
    text: str
    mend: str = ""


def told(check: str, state: str, message: str) -> Finding:
    """Return a finding from a message of ours, which says after its last semicolon what to do."""
    text, _, mend = message.rpartition("; ")
    return Finding(check, state, text or message, mend if text else "")
