"""Renders what `doctor` found, with the standard library alone."""

from __future__ import annotations

from collections.abc import Sequence

from repertoire.domain.health import FAIL, OK, WARN, Finding
from repertoire.domain.text import clean_line

_TEXT = 500


def finding_text(finding: Finding) -> str:
    """Return a finding as a line, and how to mend it as a second."""
    line = f"{finding.state:<5} {finding.check:<12} {clean_line(finding.text, _TEXT)}"
    return f"{line}\n{'':<19}→ {clean_line(finding.mend, _TEXT)}" if finding.mend else line


def verdict_text(findings: Sequence[Finding]) -> str:
    """Return the last line: how many of what."""
    states = [finding.state for finding in findings]
    counted = (f"{states.count(state)} {state}" for state in (OK, WARN, FAIL))
    return ", ".join(counted)
