"""Defines the manifest of a pack, and checks one against its JSON schema."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from repertoire.documentation.schemas import read, require
from repertoire.domain.pack import FORMAT, PackCounts

MANIFEST_BYTES = 1_000_000  # of the largest manifest that is read
_SCHEMA = "manifest.schema.json"


@dataclass(frozen=True)
class PackSource:
    """Where the documents of a pack come from: address, commit, date of the newest change, and hash of all files."""

    address: str
    commit: str
    date: str
    hash: str


@dataclass(frozen=True)
class PackManifest:
    """What manifest.json says of a pack."""

    name: str
    version: str
    description: str
    licence: str
    topics: tuple[str, ...]
    sources: tuple[PackSource, ...]
    statistics: PackCounts
    model: str  # identifies the weights by their hash; empty: the pack has no vectors
    dimensions: int
    hashes: Mapping[str, str]  # SHA-256 of each file beside the manifest
    scores: Sequence[Mapping[str, Any]] = ()


def manifest_json(manifest: PackManifest) -> str:
    """Return a manifest as the text of its file, the same for equal manifests.

    Raises:
        PackRefused: a value does not fit the schema; the message names the first fault.
    """
    value = {
        "format": FORMAT,
        **{name: getattr(manifest, name) for name in ("name", "version", "description", "licence")},
        "topics": list(manifest.topics),
        "sources": [asdict(source) for source in manifest.sources],
        "statistics": asdict(manifest.statistics),
        "model": {"name": manifest.model, "dimensions": manifest.dimensions},
        "hashes": dict(sorted(manifest.hashes.items())),
        "scores": [dict(score) for score in manifest.scores],
    }
    require(value, _SCHEMA, f"manifest of pack {manifest.name}")
    return json.dumps(value, indent=2, ensure_ascii=False) + "\n"


def require_part(told: Mapping[str, Any], *, place: str) -> None:
    """Check the part of a manifest that a person tells before a build; `place` names its pack in errors.

    Raises:
        PackRefused: a value does not fit the schema; the message names the first fault.
    """
    require(told, _SCHEMA, f"manifest of pack {place}", whole=False)


def precedence(version: str) -> tuple[list[int], bool, list[tuple[bool, int, str]]]:
    """Return what valid versions are ordered by, as semantic versioning orders them: 1.0.0-rc.2 precedes 1.0.0."""
    numbers, _, label = version.partition("+")[0].partition("-")
    parts = [(False, int(one), "") if one.isdecimal() else (True, 0, one) for one in label.split(".") if label]
    return [int(one) for one in numbers.split(".")], not label, parts


def read_manifest(text: str, *, place: str) -> PackManifest:
    """Return the manifest in a text; `place` names its pack in errors.

    Raises:
        PackRefused: the text is not JSON, or does not fit the schema.
    """
    value = read(text, _SCHEMA, f"manifest of pack {place}")
    return PackManifest(
        value["name"],
        value["version"],
        value["description"],
        value["licence"],
        tuple(value["topics"]),
        tuple(PackSource(**source) for source in value["sources"]),
        PackCounts(**value["statistics"]),
        value["model"]["name"],
        value["model"]["dimensions"],
        value["hashes"],
        tuple(value["scores"]),
    )
