"""Version ranges, by the rules of npm or of Python: whether one holds a version, and whether two are disjoint."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

import nodesemver
from packaging.specifiers import InvalidSpecifier, SpecifierSet
from packaging.version import InvalidVersion, Version

VERSION = re.compile(r"\d+(?:\.\d+)*(?:[-+.]?[0-9A-Za-z]+)*")
_NUMBER = re.compile(r"\d+")
_LONGEST, _MOST = 80, 12  # characters of the longest range, and versions in it: no person writes more


def within(version: str, wanted: str, *, npm: bool) -> bool:
    """Tell whether a version is in a range; False if one of them cannot be parsed."""
    try:
        if npm:
            return bool(nodesemver.satisfies(three_parts(version), wanted.lstrip("@"), loose=True))
        return SpecifierSet(wanted).contains(Version(version), prereleases=True)
    except (ValueError, InvalidSpecifier, InvalidVersion):
        return False


def disjoint(one: str, other: str) -> bool:
    """Tell whether two ranges certainly share no version; False if unsure, or if they are of different registries."""
    if max(len(one), len(other)) > _LONGEST or not (one and other):
        return False
    named = list(dict.fromkeys(VERSION.findall(f"{one} {other}")))
    if not named or len(named) > _MOST:
        return False
    for npm, reads in ((False, _reads_python), (True, _reads_npm)):
        if reads(one) and reads(other):
            return not any(within(v, one, npm=npm) and within(v, other, npm=npm) for v in _around(named))
    return False


def three_parts(version: str) -> str:
    """Complete a version to three numbers, as npm needs."""
    core = version.partition("-")[0].count(".")
    return version if core >= 2 or "-" in version else version + ".0" * (2 - core)


def _around(named: list[str]) -> Iterator[str]:
    """Yield versions on both sides of each bound: two ranges that share a version share one of these."""
    yield from ("0", "0.0.1", "99999.0.0")
    for version in named:
        yield version
        numbers = [int(part) for part in _NUMBER.findall(version.partition("-")[0])[:3]]
        numbers += [0] * (3 - len(numbers))
        for place in range(3):
            up = [*numbers[:place], numbers[place] + 1, *(0 for _ in numbers[place + 1 :])]
            yield ".".join(map(str, up))
            if numbers[place]:
                down = [*numbers[:place], numbers[place] - 1, *(99999 for _ in numbers[place + 1 :])]
                yield ".".join(map(str, down))


def _reads_python(wanted: str) -> bool:
    return _read(lambda: bool(SpecifierSet(wanted)))


def _reads_npm(wanted: str) -> bool:
    return _read(lambda: nodesemver.valid_range(wanted.lstrip("@"), loose=True) is not None)


def _read(reading: Callable[[], bool]) -> bool:
    try:
        return reading()
    except (ValueError, InvalidSpecifier):
        return False
