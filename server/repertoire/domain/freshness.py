"""How fresh a component is: one score from 0 to 1, the parts that it is made of, and from where on it is stale.

Its own last change counts, halved each half-life of its kind; releases of what it belongs to count against it where
they broke with what was before, or stay away longer than they usually do; so does, within a bound, what it depends on
where that is gone, stale, flagged, or known to be vulnerable. What nothing is known of takes no part. Use
is told beside the score and never in it: what is used daily may be out of date all the same.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date

from repertoire.domain.component import HOOK, MCP_SERVER, PACKAGE, PLUGIN, TOOL

AGE, BREAKING, OVERDUE, SOUND = "age", "breaking", "overdue", "soundness"
FLOOR = 0.1  # old alone is no reason to sink below everything
# What speaks to a service or to the client ages faster than prose about a craft.
_SHARES = {PLUGIN: 0.75, HOOK: 0.75, MCP_SERVER: 0.5, TOOL: 0.5, PACKAGE: 0.5}
_BROKEN, _OVERDUE = 0.7, 0.8
_LATE = 3  # usual gaps between releases after which the next one is overdue
_LEAST_GAP = 30  # days: ten releases in a week make no project overdue a month later
_FEWEST = 4  # releases below which there is no usual gap
_MONTH = 30.44


@dataclass(frozen=True)
class Ageing:
    """How fast components age and from where on they are stale; a person's settings."""

    half_life_days: int = 365
    stale_percent: int = 40


@dataclass(frozen=True)
class Release:
    """One release as a tag, a manifest or a change log tells it; the date is empty where it tells none."""

    version: str
    date: str
    breaking: bool = False  # it says so itself


@dataclass(frozen=True)
class Freshness:
    """How fresh something is; `parts` are the factors of its score."""

    score: float
    parts: Mapping[str, float]
    changed: str
    days: int
    stale: bool
    broke: Release | None = None  # the newest breaking release since its last change
    released: str = ""  # the newest release of what it belongs to
    every_days: int = 0  # usual days between releases; 0: too few to tell

    @property
    def label(self) -> str:
        """Say when it was last changed: `last changed 2024-01, 22 months ago`."""
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
    """Return how fresh a component of a kind is that was last changed then; None where nothing tells.

    `sound` is how sound what it depends on is, 1 where nothing speaks against that.
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
    """Return the day of an ISO date or time; None where it is none: what a commit says of its date may be anything."""
    try:
        return date.fromisoformat(text[:10])
    except ValueError:
        return None


def span(days: int) -> str:
    """Say how long some days are, in the largest unit that does not mislead."""
    if days < 2 * _MONTH:
        return f"{days} day{'' if days == 1 else 's'}"
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
    """Return the releases that break with what was before, the newest first: a new major version, or its own word."""
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
