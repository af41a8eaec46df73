"""Matches OSV records (security advisories) from local files to the packages that components require.

Nothing is fetched. Records are stored and matched again whenever the requirements of a component change.
"""

from __future__ import annotations

import json
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from repertoire.app.clock import now
from repertoire.domain.component import DEPENDS_ON, name_and_range
from repertoire.domain.errors import InvalidRequest
from repertoire.ingestion.advisories import (
    AFFECTED,
    ECOSYSTEMS,
    NPM,
    PYPI,
    AffectedPackage,
    affected_packages,
    as_data,
    from_data,
    is_record,
    judge,
    package_key,
    withdrawn,
)
from repertoire.store.database import Store
from repertoire.store.soundness import KeptAdvisory

_FILE_CAP, _FILES = 20_000_000, 100_000  # largest file in bytes; files that one call reads
_SPARE = 2_000  # advisories that are stored for packages that no component requires yet
_PACKAGE, _RUNTIME = "package:", "runtime:"  # prefixes of requirements
_VERSION = re.compile(r"[^a-z]")  # first character after a runtime's name, where its version begins
_RUNNERS = {"node": NPM, "bun": NPM, "uv": PYPI, "pipx": PYPI, "python": PYPI}


@dataclass(frozen=True)
class AdvisoryMatch:
    """A component's requirement that an advisory concerns; `certainty`: affected, or possible if versions are open."""

    component: str
    installed: bool
    requirement: str
    ecosystem: str
    certainty: str
    version: str  # an affected version that the requirement names or allows; empty if it allows any
    id: str
    aliases: tuple[str, ...]
    severity: str
    summary: str
    fixed: tuple[str, ...]


@dataclass(frozen=True)
class Advisories:
    """The matches, installed and surely affected components first, with counts of records and unreadable files."""

    matches: tuple[AdvisoryMatch, ...]
    records: int
    packages: int  # number of packages that components require
    kept: int = 0  # number of stored advisories
    unread: tuple[str, ...] = ()


@dataclass(frozen=True)
class _Requirement:
    component: str
    installed: bool
    text: str
    wanted: str


def advisories(store: Store, place: Path) -> Advisories:
    """Match and store the records of a JSON file, or of all in a folder, where unreadable files are only listed.

    Raises:
        InvalidRequest: the named file cannot be read.
    """
    required = _required(store)
    unread: list[str] = []
    found: list[AffectedPackage] = []
    void: list[str] = []
    records = 0
    for record in _records(place, unread):
        records += 1
        found += affected_packages(record)
        void += filter(None, [withdrawn(record)])
    if not store.read_only:
        store.soundness.keep_advisories(_worth_keeping(found, required), withdrawn=void)
    matches = _matches(found, required)
    kept = len(store.soundness.advisories())
    return Advisories(matches, records, len({name for _, name in required}), kept, tuple(unread))


def kept_advisories(store: Store) -> Advisories:
    """Match the stored advisories to the packages that components require now."""
    required, kept = _required(store), store.soundness.advisories()
    matches = _matches((from_data(item.data) for item in kept), required)
    return Advisories(matches, len({item.id for item in kept}), len({name for _, name in required}), len(kept))


def forget_advisories(store: Store) -> int:
    """Delete all stored advisories; return how many there were."""
    return store.soundness.forget_advisories()


def _matches(
    found: Iterable[AffectedPackage], required: Mapping[tuple[str, str], list[_Requirement]]
) -> tuple[AdvisoryMatch, ...]:
    matched: dict[tuple[str, str, str], AdvisoryMatch] = {}
    for concern in found:
        for requirement in required.get((concern.ecosystem, concern.package), ()):
            match = _match(concern, requirement)
            if match is not None:
                matched.setdefault((match.component, match.requirement, match.id), match)
    return tuple(
        sorted(
            matched.values(),
            key=lambda match: (not match.installed, match.certainty != AFFECTED, match.component, match.id),
        )
    )


def _worth_keeping(
    found: Iterable[AffectedPackage], required: Mapping[tuple[str, str], list[_Requirement]]
) -> Iterator[KeptAdvisory]:
    spare, at = _SPARE, now()
    for concern in found:
        if (concern.ecosystem, concern.package) not in required:
            spare -= 1
        if spare >= 0 or (concern.ecosystem, concern.package) in required:
            yield KeptAdvisory(concern.ecosystem, concern.package, concern.id, as_data(concern), at)


def _match(concern: AffectedPackage, requirement: _Requirement) -> AdvisoryMatch | None:
    certainty, version = judge(concern, requirement.wanted)
    if not certainty:
        return None
    return AdvisoryMatch(
        requirement.component,
        requirement.installed,
        requirement.text,
        concern.ecosystem,
        certainty,
        version,
        concern.id,
        concern.aliases,
        concern.severity,
        concern.summary,
        concern.fixed,
    )


def _required(store: Store) -> Mapping[tuple[str, str], list[_Requirement]]:
    """Map each package, by ecosystem and name, to its requirements; an unknown ecosystem counts as both."""
    components = {row.node_id: row for row in store.graph.summaries()}
    needs: dict[int, list[str]] = defaultdict(list)
    for source, _, name, *_ in store.graph.edges_of(DEPENDS_ON):
        needs[source].append(name)
    found: dict[tuple[str, str], list[_Requirement]] = defaultdict(list)
    for node, names in needs.items():
        runners = {_RUNNERS.get(_VERSION.split(n[len(_RUNTIME) :])[0]) for n in names if n.startswith(_RUNTIME)}
        told = [ecosystem for ecosystem in ECOSYSTEMS if ecosystem in runners]
        for name in names:
            package, wanted = name_and_range(name.removeprefix(_PACKAGE)) if name.startswith(_PACKAGE) else ("", "")
            if not package or node not in components:
                continue
            row = components[node]
            requirement = _Requirement(row.id, row.installed, package + wanted, wanted)
            for ecosystem in _written_as(package, wanted) or told or ECOSYSTEMS:
                found[ecosystem, package_key(ecosystem, package)].append(requirement)
    return found


def _written_as(package: str, wanted: str) -> list[str]:
    """Return the ecosystem whose notation a package's name or version range has; none if both write it so."""
    if package.startswith("@") or wanted.startswith("@"):
        return [NPM]
    return [PYPI] if wanted.startswith(("==", "~=", "!=")) else []


def _records(place: Path, unread: list[str]) -> Iterator[Mapping[str, Any]]:
    files = sorted(place.rglob("*.json")) if place.is_dir() else [place]
    if len(files) > _FILES:
        unread.append(f"{place}: only the first {_FILES} of {len(files)} files were read")
    for file in files[:_FILES]:
        try:
            value = _content(file, given=file == place)
        except (OSError, ValueError, RecursionError) as error:
            if file == place:
                message = f"{file}: {str(error)[:120]}; name a JSON file of OSV records, or a folder of them"
                raise InvalidRequest(message) from error
            unread.append(f"{file}: {str(error)[:120]}")
            continue
        listed = value.get("vulns", [value]) if isinstance(value, dict) else value
        listed = listed if isinstance(listed, list) else [listed]
        records = [item for item in listed if is_record(item)]
        if not records:
            unread.append(f"{file}: holds no OSV record")
        elif len(records) < len(listed):
            unread.append(f"{file}: {len(listed) - len(records)} of {len(listed)} are no OSV records")
        yield from records


def _content(file: Path, *, given: bool) -> Any:
    if not given and not file.is_file():  # reading a pipe might never end
        message = "no file, or a link to none"
        raise ValueError(message)
    if file.stat().st_size > _FILE_CAP:
        message = f"larger than {_FILE_CAP // 1_000_000} MB, not read; split it"
        raise ValueError(message)
    text = file.read_text(encoding="utf-8-sig")
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        message = f"not read as JSON ({error})"
        raise ValueError(message) from error
