"""Measures precision and recall of flags against labelled cases, by severity and by rule."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from repertoire.domain.trust import SEVERITIES, Flag, rank


@dataclass(frozen=True)
class JudgedCase:
    """One labelled case: the expected severity by rule, and the flags that the scan gave it."""

    id: str
    expected: dict[str, str]
    flags: tuple[Flag, ...]
    also: dict[str, str] = field(default_factory=dict)  # further flags that are right but not required


@dataclass(frozen=True)
class Score:
    """Counts of one severity or rule: `right` of the `flagged`, and `found` of the `expected` flags."""

    name: str
    flagged: int = 0
    right: int = 0
    expected: int = 0
    found: int = 0
    wrong: tuple[str, ...] = field(default=())
    missed: tuple[str, ...] = field(default=())

    @property
    def precision(self) -> float | None:
        """The share of flags that are right; None without flags."""
        return self.right / self.flagged if self.flagged else None

    @property
    def recall(self) -> float | None:
        """The share of expected flags that were found; None if none is expected."""
        return self.found / self.expected if self.expected else None


def by_severity(cases: Sequence[JudgedCase]) -> tuple[Score, ...]:
    """Return the score of each severity, the gravest first; a flag is right up to its rule's expected severity."""
    return tuple(_score(severity, cases, severity=severity) for severity in reversed(SEVERITIES))


def by_rule(cases: Sequence[JudgedCase], rules: Iterable[str]) -> tuple[Score, ...]:
    """Return the score of each rule over all severities."""
    return tuple(_score(rule, cases, rule=rule) for rule in rules)


def _score(name: str, cases: Sequence[JudgedCase], *, severity: str = "", rule: str = "") -> Score:
    flagged = right = expected = found = 0
    wrong: list[str] = []
    missed: list[str] = []
    for case in cases:
        gravest = _gravest(case.flags)
        for of, level in gravest.items():
            if (severity and level != severity) or (rule and of != rule):
                continue
            flagged += 1
            if max(rank(case.expected.get(of, "")), rank(case.also.get(of, ""))) >= rank(level):
                right += 1
            else:
                wrong.append(f"{case.id} ({of}, {level})")
        for of, level in case.expected.items():
            if (severity and level != severity) or (rule and of != rule):
                continue
            expected += 1
            if rank(gravest.get(of, "")) >= rank(level):
                found += 1
            else:
                missed.append(f"{case.id} ({of}, {level}; got {gravest.get(of, 'nothing')})")
    return Score(name, flagged, right, expected, found, tuple(wrong), tuple(missed))


def _gravest(flags: Iterable[Flag]) -> dict[str, str]:
    found: dict[str, str] = {}
    for flag in flags:
        if rank(flag.severity) > rank(found.get(flag.rule, "")):
            found[flag.rule] = flag.severity
    return found
