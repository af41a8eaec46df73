"""Parses OSV security advisories, and tells whether a required package version is affected."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cmp_to_key
from typing import Any

import nodesemver
from packaging.utils import canonicalize_name
from packaging.version import InvalidVersion, Version

from repertoire.domain.text import clean_line
from repertoire.ingestion.ranges import VERSION, three_parts, within

NPM, PYPI = "npm", "PyPI"
ECOSYSTEMS = (NPM, PYPI)
AFFECTED, POSSIBLE = "affected", "possible"
_VERSIONS, _EVENTS = 20_000, 500
_WORD = re.compile(r"[\w.:+~^*!/@-]{1,80}", re.ASCII)  # ids and versions are shown in answers, so they are one word
_EXACT = re.compile(r"^@?={0,3}\s*v?(\d[^\s,|*<>=^~]*)$")
_WHOLE = re.compile(r"\d+\.\d+\.\d+(?:[-+].+)?")  # a whole npm version; fewer than three numbers are a range


@dataclass(frozen=True)
class AffectedPackage:
    """One package that an advisory affects, with the affected versions and the severity."""

    id: str
    aliases: tuple[str, ...]
    summary: str
    severity: str
    ecosystem: str
    package: str
    versions: frozenset[str]
    ranges: tuple[tuple[tuple[str, str], ...], ...]  # events: (introduced | fixed | last_affected | limit, version)

    @property
    def fixed(self) -> tuple[str, ...]:
        """The versions in which the vulnerability is fixed."""
        return tuple(dict.fromkeys(value for events in self.ranges for kind, value in events if kind == "fixed"))


def is_record(value: object) -> bool:
    """Tell whether a value is an OSV record: it has an id of one word, and an `affected` list or a withdrawal."""
    record = _object(value)
    named = isinstance(record.get("id"), str) and _WORD.fullmatch(record["id"])
    return bool(named) and (isinstance(record.get("affected"), list) or bool(record.get("withdrawn")))


def affected_packages(record: Mapping[str, Any]) -> Iterator[AffectedPackage]:
    """Yield the npm and PyPI packages that a record affects; none if it is withdrawn."""
    if record.get("withdrawn") or not is_record(record):
        return
    for entry in _objects(record.get("affected")):
        package = _object(entry.get("package"))
        ecosystem, name = str(package.get("ecosystem", "")).partition(":")[0], package.get("name")
        if ecosystem in ECOSYSTEMS and isinstance(name, str) and name:
            yield AffectedPackage(
                record["id"],
                tuple(alias for alias in _texts(record.get("aliases")) if _WORD.fullmatch(alias))[:8],
                clean_line(str(record.get("summary") or record.get("details") or ""), 200),
                _severity(record, entry),
                ecosystem,
                package_key(ecosystem, name),
                frozenset(_texts(entry.get("versions"))[:_VERSIONS]),
                tuple(_ranges(entry)),
            )


def as_data(concern: AffectedPackage) -> dict[str, Any]:
    """Return an affected package as plain data, for storage."""
    return {**asdict(concern), "versions": sorted(concern.versions)}


def from_data(data: Mapping[str, Any]) -> AffectedPackage:
    """Restore an affected package from stored data."""
    ranges = tuple(tuple((str(kind), str(version)) for kind, version in events) for events in data["ranges"])
    kept = {**data, "aliases": tuple(data["aliases"]), "versions": frozenset(data["versions"]), "ranges": ranges}
    return AffectedPackage(**kept)


def withdrawn(record: Mapping[str, Any]) -> str:
    """Return the id of a withdrawn record; empty if the record is not withdrawn."""
    return clean_line(str(record.get("id", "")), 80) if record.get("withdrawn") else ""


def package_key(ecosystem: str, name: str) -> str:
    """Normalise a package's name as its registry does."""
    return str(canonicalize_name(name)) if ecosystem == PYPI else name.lower()


def judge(concern: AffectedPackage, wanted: str) -> tuple[str, str]:
    """Tell whether a version requirement (`==1.2`, `@^1.0`, or empty) is affected or possibly so, and the version.

    Both strings are empty if it is not affected.
    """
    npm = concern.ecosystem == NPM
    exact = _EXACT.match(wanted.strip())
    if exact and (not npm or _WHOLE.fullmatch(exact.group(1))):
        return (AFFECTED, exact.group(1)) if _affects(concern, exact.group(1), npm=npm) else ("", "")
    if not wanted.strip():
        return POSSIBLE, ""
    bounds = [value for events in concern.ranges for kind, value in events if kind != "fixed" and value != "*"]
    own = VERSION.findall(wanted)
    released = [bound.partition("-")[0] for bound in bounds]  # npm's ranges hold no other version's pre-releases
    for version in dict.fromkeys([*own, *map(_next, own), *bounds, *released, *sorted(concern.versions)]):
        if within(version, wanted, npm=npm) and _affects(concern, version, npm=npm):
            return POSSIBLE, version
    return "", ""


def _affects(concern: AffectedPackage, version: str, *, npm: bool) -> bool:
    if version in concern.versions or any(_same(version, other, npm=npm) for other in concern.versions):
        return True
    return any(_in_events(events, version, npm=npm) for events in concern.ranges)


def _same(one: str, other: str, *, npm: bool) -> bool:
    """Tell whether two spellings are the same version, as `1.0` and `1.0.0` are in Python."""
    if npm or one[:1] != other[:1]:
        return False
    try:
        return Version(one) == Version(other)
    except InvalidVersion:
        return False


def _in_events(events: Sequence[tuple[str, str]], version: str, *, npm: bool) -> bool:
    """Tell whether a range of events affects a version; as in OSV's schema, the last event at or below it decides.

    If a range has limits, only versions below one of them are affected.
    """
    limits = [bound for kind, bound in events if kind == "limit"]

    def order_of(one: tuple[str, str], other: tuple[str, str]) -> int:
        return _compare(one[1], other[1], npm=npm)

    affected = False
    try:
        if limits and not any(bound == "*" or _compare(version, bound, npm=npm) < 0 for bound in limits):
            return False
        ordered = sorted((event for event in events if event[0] != "limit"), key=cmp_to_key(order_of))
        for kind, bound in ordered:
            order = _compare(version, bound, npm=npm)
            if kind == "introduced" and order >= 0:
                affected = True
            elif (kind == "fixed" and order >= 0) or (kind == "last_affected" and order > 0):
                affected = False
    except (ValueError, InvalidVersion):
        return False
    return affected


def _compare(one: str, other: str, *, npm: bool) -> int:
    if "0" in {one, other}:  # OSV's "0" comes before every version
        return (one != "0") - (other != "0")
    if npm:
        return int(nodesemver.compare(three_parts(one), three_parts(other), loose=True))
    left, right = Version(one), Version(other)
    return (left > right) - (left < right)


def _next(version: str) -> str:
    """Return the next patch version, for ranges that exclude their bound."""
    parts = [part for part in version.split(".") if part.isdigit()][:3]
    parts += ["0"] * (3 - len(parts))
    return ".".join([*parts[:2], str(int(parts[2]) + 1)])


def _ranges(entry: Mapping[str, Any]) -> Iterator[tuple[tuple[str, str], ...]]:
    for given in _objects(entry.get("ranges")):
        if given.get("type") in ("SEMVER", "ECOSYSTEM"):
            events = _objects(given.get("events"))[:_EVENTS]
            yield tuple(
                (kind, str(value))
                for event in events
                for kind, value in event.items()
                if kind in ("introduced", "fixed", "last_affected", "limit") and _WORD.fullmatch(str(value))
            )


def _severity(record: Mapping[str, Any], entry: Mapping[str, Any]) -> str:
    for holder in (record, entry):
        for key in ("database_specific", "ecosystem_specific"):
            word = _object(holder.get(key)).get("severity")
            if isinstance(word, str):
                return clean_line(word.lower(), 40)
    scores = [str(score.get("score", "")) for score in _objects(record.get("severity") or entry.get("severity"))]
    return clean_line(scores[0], 80) if scores else ""


def _objects(value: Any) -> list[Mapping[str, Any]]:
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []


def _object(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, dict) else {}


def _texts(value: Any) -> list[str]:
    return [item for item in value if isinstance(item, str)] if isinstance(value, list) else []
