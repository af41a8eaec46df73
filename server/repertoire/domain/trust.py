"""The flag: a finding of a static check in a component, with its severity."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

LOW, MEDIUM, HIGH, CRITICAL = "low", "medium", "high", "critical"
SEVERITIES = (LOW, MEDIUM, HIGH, CRITICAL)  # low is a remark; critical is what no honest component does
HINTABLE = 1  # the highest severity rank that a hint may still suggest
INSTALLABLE = 2  # the highest severity rank that `install` carries out unless a person says otherwise
RECOMMENDABLE = 3  # the highest severity rank that a recommended set may still hold: all but critical


@dataclass(frozen=True)
class Flag:
    """One finding of a static check: its rule, severity, place, and the reason in plain words."""

    rule: str
    severity: str
    line: int = 0  # line number in the file, from 1; 0 if the finding has no line
    file: str = ""  # empty: the component's own file
    reason: str = ""
    text: str = ""  # the line itself, capped, cleaned, without secrets


def rank(severity: str) -> int:
    """Return the rank of a severity: 1 for low to 4 for critical, 0 for none."""
    return SEVERITIES.index(severity) + 1 if severity in SEVERITIES else 0


def risk(flags: Iterable[Flag]) -> int:
    """Return the rank of the gravest flag, 0 without any."""
    return max((rank(flag.severity) for flag in flags), default=0)
