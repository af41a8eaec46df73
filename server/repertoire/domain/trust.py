"""What a static check found in a component: the flag, and how grave it is."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

LOW, MEDIUM, HIGH, CRITICAL = "low", "medium", "high", "critical"
SEVERITIES = (LOW, MEDIUM, HIGH, CRITICAL)  # from a remark to what no honest component does
HINTABLE = 1  # the gravest rank that is still suggested unasked: a remark
RECOMMENDABLE = 3  # the gravest rank that is still in a recommended set; what is critical is not


@dataclass(frozen=True)
class Flag:
    """One finding: the rule, how grave it is here, where it stands, and why in plain words."""

    rule: str
    severity: str
    line: int = 0  # of the file, from 1; 0 where it is no line's
    file: str = ""  # empty: the component's own
    reason: str = ""
    text: str = ""  # the line itself, capped, cleaned, without secrets


def rank(severity: str) -> int:
    """Return how grave a severity is: 1 for low to 4 for critical, 0 for none."""
    return SEVERITIES.index(severity) + 1 if severity in SEVERITIES else 0


def risk(flags: Iterable[Flag]) -> int:
    """Return the rank of the gravest flag, 0 without any."""
    return max((rank(flag.severity) for flag in flags), default=0)
