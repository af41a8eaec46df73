"""Reads the releases of a source from its tags, the version changes in its manifests, and its change logs."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from repertoire.domain.errors import SourceError
from repertoire.domain.freshness import Release
from repertoire.sources import git, repository

_SECONDS = 10.0  # time limit of the search for version changes
_MARK = "\x01"
_MOST = 500  # tags, and commits that change a manifest, that are read
_LOGS = frozenset(("changelog.md", "changes.md", "history.md", "releases.md"))
_LOG_CAP = 200_000
_VERSION = r"[vV]?(\d{1,4}(?:\.\d{1,6}){1,3}(?:[-+][0-9A-Za-z.-]{1,20})?)"
_TAG = re.compile(rf"^(?:(?P<of>.{{1,80}}?)(?:[-_/@]|--))?{_VERSION}$")
_BUMP = re.compile(rf'^\+\s*"version"\s*:\s*"{_VERSION}"')
_HEADING = re.compile(rf"^#{{1,4}}\s+(?:[Vv]ersion\s+|[Rr]elease\s+)?\[?{_VERSION}\b(.{{0,200}})$")
_DAY = re.compile(r"\b(\d{4}-\d{2}-\d{2})\b")
_BREAKING = re.compile(r"\bBREAKING\b|(?i:(?<!\bno )\bbreaking changes?\b)")


@dataclass(frozen=True)
class Releases:
    """The releases of a source; `of` selects those of one path."""

    folder: Path
    tags: tuple[tuple[str, Release], ...] = ()  # each with the released component's name, if the tag has one
    manifests: Mapping[str, tuple[Release, ...]] = field(default_factory=dict)  # by the plugin's folder
    _logs: dict[str, tuple[Release, ...]] = field(default_factory=dict)  # of change logs that were read, by folder

    def of(self, path: str) -> tuple[Release, ...]:
        """Return the releases of a path: of the nearest plugin and change log above it, else of the source."""
        parts = path.split("/")
        above = ["/".join(parts[:depth]) for depth in range(len(parts), -1, -1)]
        plugin = next((place for place in above if place in self.manifests), "")
        owned = self.manifests.get(plugin, ())
        names = {"", *parts} if not plugin else {plugin.rpartition("/")[2]}
        tagged = [release for name, release in self.tags if name in names]
        logged = next((found for place in above if (found := self._logged(place))), ())
        return _merged([*owned, *tagged, *logged])

    def _logged(self, below: str) -> tuple[Release, ...]:
        if below not in self._logs:
            self._logs[below] = _changelog(self.folder, below)
        return self._logs[below]


def read(folder: Path, *, ours: bool = False) -> Releases:
    """Read a folder's releases from git; change logs are read later, when `of` needs them.

    `ours` says that we cloned it.
    """
    tags: tuple[tuple[str, Release], ...] = ()
    try:
        found = repository.look(folder, ours=ours)
        # A shallow clone has one commit that adds everything: its day tells nothing about a version.
        # In a partial clone, older manifests would have to be fetched while a person waits for an answer.
        complete = not found.shallow and not found.partial
        with repository.lent(found) as place:
            tags = tuple(_tags(place))
            return Releases(folder, tags, _bumps(place) if complete else {})
    except SourceError:  # no readable repository, or git took too long
        return Releases(folder, tags)


def _tags(git_dir: Path) -> Iterator[tuple[str, Release]]:
    listed = ("for-each-ref", f"--count={_MOST}", "--sort=-creatordate", "refs/tags")
    for line in git.read([*listed, "--format=%(creatordate:short) %(refname:strip=2)"], git_dir).splitlines():
        day, _, name = line.partition(" ")
        found = _TAG.match(name)
        if found:
            yield found.group("of") or "", Release(found.group(2), day)


def _bumps(git_dir: Path) -> dict[str, tuple[Release, ...]]:
    """Return the versions that commits wrote into each `plugin.json`, by the plugin's folder."""
    shown = ("-p", "-U0", "--no-color", "--no-ext-diff", "--no-textconv", "--no-renames", "--dst-prefix=b/")
    chosen = ("-G", '"version"', "--", ":(glob)**/.claude-plugin/plugin.json")
    text = git.read(["log", f"-n{_MOST}", f"--format={_MARK}%cs", *shown, *chosen], git_dir, seconds=_SECONDS)
    found: dict[str, list[Release]] = {}
    for commit in text.split(_MARK)[1:]:
        day, _, changes = commit.partition("\n")
        plugin = None
        for line in changes.splitlines():
            if line.startswith("+++ "):
                path = line.removeprefix("+++ b/")
                plugin = path.rpartition(".claude-plugin/")[0].rstrip("/") if path != line else None
            elif plugin is not None and (bump := _BUMP.match(line)):
                found.setdefault(plugin, []).append(Release(bump.group(1), day.strip()))
    return {plugin: tuple(releases) for plugin, releases in found.items()}


def _changelog(folder: Path, below: str) -> tuple[Release, ...]:
    place = folder / below
    try:
        if not place.is_dir() or not place.resolve().is_relative_to(folder.resolve()):
            return ()
        file = next((entry for entry in sorted(place.iterdir()) if entry.name.lower() in _LOGS), None)
        if file is None or file.is_symlink() or not file.is_file():
            return ()
        with file.open(encoding="utf-8", errors="replace") as opened:
            return tuple(_logged(opened.read(_LOG_CAP)))
    except OSError:
        return ()


def _logged(text: str) -> Iterator[Release]:
    """Yield the releases in a change log; those without a date are left out."""
    version, day, breaking = "", "", False
    for line in text.splitlines():
        heading = _HEADING.match(line[:300])
        if heading:
            if day:
                yield Release(version, day, breaking)
            on = _DAY.search(heading.group(2))
            version, day, breaking = heading.group(1), on.group(1) if on else "", False
        breaking = breaking or bool(_BREAKING.search(line[:300]))
    if day:
        yield Release(version, day, breaking)


def _merged(releases: Iterable[Release]) -> tuple[Release, ...]:
    """Merge releases of the same version: its earliest day, breaking if any says so; the newest first."""
    known: dict[str, Release] = {}
    for release in releases:
        other = known.get(release.version, release)
        known[release.version] = Release(
            release.version, min(release.date, other.date), release.breaking or other.breaking
        )
    return tuple(sorted(known.values(), key=lambda release: release.date, reverse=True))
