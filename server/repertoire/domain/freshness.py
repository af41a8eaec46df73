"""The freshness of a component: a score from 0 to 1, its factors, and the threshold below which it is stale.

The component's own last change counts, halved each half-life of its kind. Releases of its plugin or source lower the
score if they were breaking, or are overdue. So do, within a bound, dependencies that are gone, stale, flagged or known
to be vulnerable. A factor of which nothing is known is left out. Use is shown beside the score and is never part of
it: a component that is used daily may be out of date all the same.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date

from repertoire.domain.component import HOOK, MCP_SERVER, PACKAGE, PLUGIN, TOOL
from repertoire.domain.text import counted

AGE, BREAKING, OVERDUE, SOUND = "age", "breaking", "overdue", "soundness"
FLOOR = 0.1  # lowest score: age alone must not rank a component below everything else
# Half-lives by type, as a share of the setting: code that calls a service or the client ages faster than prose.
_SHARES = {PLUGIN: 0.75, HOOK: 0.75, MCP_SERVER: 0.5, TOOL: 0.5, PACKAGE: 0.5}
_BROKEN, _OVERDUE = 0.7, 0.8
_LATE = 3  # a release is overdue after this many usual gaps between releases
_LEAST_GAP = 30  # days that a usual gap counts at least: ten releases in a week make no project overdue in a month
_FEWEST = 4  # releases that are needed to tell a usual gap
_MONTH = 30.44


@dataclass(frozen=True)
class Ageing:
    """The settings of ageing: the half-life of components, and the score below which they are stale."""

    half_life_days: int = 365
    stale_percent: int = 40


@dataclass(frozen=True)
class Release:
    """One release, read from a tag, a manifest or a change log; the date is empty if none is given."""

    version: str
    date: str

    breaking: bool = False  # its own text calls it breaking


@dataclass(frozen=True)
class Freshness:
    """A component's freshness score with its factors (`parts`) and the dates that they rest on."""

    score: float
    parts: Mapping[str, float]
    changed: str
    days: int
    stale: bool
    broke: Release | None = None  # the newest breaking release since its last change
    released: str = ""  # day of the newest release of its plugin or source
    every_days: int = 0  # usual days between releases; 0: too few to tell

    @property
    def label(self) -> str:
        """The last change in words: `last changed 2024-01, 22 months ago`."""
        return f"last changed {self.changed[:7]}, {span(self.days)} ago"


def freshness(
    kind: str,
    changed: str,
    today: date,
    *,
    ageing: Ageing | None = None,
    releases: Sequence[Release] = (),
    sound: float = 1.0,
) -> Freshness | None:
    """Compute the freshness of a component from its last change and releases; None if that date is unknown.

    `sound` is the soundness of its dependencies, 1 if nothing speaks against them.
    """
    day = day_of(changed)
    if day is None:
        return None
    known = ageing or Ageing()
    days = max((today - day).days, 0)
    half_life = max(known.half_life_days * _SHARES.get(kind, 1.0), 1.0)
    rhythm = _rhythm(releases, today)
    parts = {AGE: 0.5 ** (days / half_life)}
    broke = next((release for release in _breaking(releases) if (day_of(release.date) or day) > day), None)
    if broke is not None:
        parts[BREAKING] = _BROKEN
    if rhythm.overdue:
        parts[OVERDUE] = _OVERDUE
    if sound < 1.0:
        parts[SOUND] = sound
    score = 1.0
    for part in parts.values():
        score *= part
    score = FLOOR + (1.0 - FLOOR) * score
    stale = score * 100 < known.stale_percent
    return Freshness(score, parts, changed[:10], days, stale, broke, rhythm.newest, rhythm.every_days)


def day_of(text: str) -> date | None:
    """Parse the day of an ISO date or time; None if the text is neither, as a commit's date may be any text."""
    try:
        return date.fromisoformat(text[:10])
    except ValueError:
        return None


def span(days: int) -> str:
    """Return a number of days in words, in the largest unit that does not mislead: `22 months`."""
    if days < 2 * _MONTH:
        return counted(days, "day")
    months = round(days / _MONTH)
    return f"{months} months" if months < 36 else f"{days // 365} years"


@dataclass(frozen=True)
class _Rhythm:
    newest: str = ""
    every_days: int = 0
    overdue: bool = False


def _rhythm(releases: Sequence[Release], today: date) -> _Rhythm:
    days = sorted({day for release in releases if (day := day_of(release.date)) is not None and day <= today})
    if not days:
        return _Rhythm()
    newest = days[-1].isoformat()
    if len(days) < _FEWEST:
        return _Rhythm(newest)
    from statistics import median  # noqa: PLC0415 - fractions and decimals, for releases alone

    gap = max(int(median((day - days[place]).days for place, day in enumerate(days[1:]))), 1)
    return _Rhythm(newest, gap, (today - days[-1]).days > _LATE * max(gap, _LEAST_GAP))


def _breaking(releases: Sequence[Release]) -> list[Release]:
    """Return the breaking releases, the newest first: each new major version, and each that calls itself breaking."""
    dated = sorted((release for release in releases if day_of(release.date)), key=lambda release: release.date)
    found, highest = [], None
    for release in dated:
        major = _major(release.version)
        if release.breaking or (major is not None and highest is not None and major > highest):
            found.append(release)
        if major is not None:
            highest = major if highest is None else max(highest, major)
    return found[::-1]


def _major(version: str) -> int | None:
    number = version.lstrip("vV").partition(".")[0]
    return int(number) if number.isdigit() and number.isascii() and len(number) < 5 else None
