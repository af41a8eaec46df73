"""Renders the findings of `doctor`, with the standard library alone."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Sequence
from typing import Any

from repertoire.domain.health import FAIL, OK, WARN, Finding
from repertoire.domain.text import clean_line

_TEXT = 500
_NARROWEST = 20  # columns for text, even if the window is narrower
_COMMANDS = ("claude ", "chmod ")
_QUOTED = re.compile(r"`[^`]*`|'[^']*'")
_GLUE = "\x00"  # never in a text, because texts are cleaned of it


def finding_text(finding: Finding, *, width: int = 0) -> str:
    """Return a finding as one line and its repair as a second, wrapped to a width if one is given.

    A command is never wrapped, because a command copied from two lines would do something else.
    """
    lines = [*_laid_out(f"{finding.state:<5} {finding.check:<12} ", finding.text, width)]
    if finding.mend:
        lines += _laid_out(f"{'':<19}→ ", finding.mend, width)
    return "\n".join(lines)


def findings_data(findings: Sequence[Finding]) -> dict[str, Any]:
    """Return a JSON object with all findings, and whether none of them is a failure."""
    return {
        "healthy": not any(finding.state == FAIL for finding in findings),
        "findings": [
            {"check": finding.check, "state": finding.state, "text": finding.text, "mend": finding.mend}
            for finding in findings
        ],
    }


def _laid_out(head: str, text: str, width: int) -> list[str]:
    text = clean_line(text, _TEXT)
    if not width or len(head) + len(text) <= width or text.startswith(_COMMANDS):
        return [head + text]
    glued = _QUOTED.sub(lambda part: part.group().replace(" ", _GLUE), text)
    lines = textwrap.wrap(
        glued, max(width - len(head), _NARROWEST), break_long_words=False, break_on_hyphens=False
    )  # fmt: skip
    return [f"{head if place == 0 else ' ' * len(head)}{line}".replace(_GLUE, " ") for place, line in enumerate(lines)]


def verdict_text(findings: Sequence[Finding]) -> str:
    """Return the last line: how many findings are ok, warnings and failures."""
    states = [finding.state for finding in findings]
    counted = (f"{states.count(state)} {state}" for state in (OK, WARN, FAIL))
    return ", ".join(counted)
