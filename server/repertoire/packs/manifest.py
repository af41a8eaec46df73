"""Defines the manifest of a pack, and checks one against its JSON schema."""

from __future__ import annotations

import functools
import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from importlib import resources
from typing import TYPE_CHECKING, Any

from repertoire.domain.errors import PackRefused
from repertoire.domain.pack import FORMAT, PackCounts
from repertoire.domain.text import clean_line

if TYPE_CHECKING:
    from jsonschema import Draft202012Validator

MANIFEST_BYTES = 1_000_000  # of the largest manifest that is read


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
    _require(value, manifest.name)
    return json.dumps(value, indent=2, ensure_ascii=False) + "\n"


def read_manifest(text: str, *, place: str) -> PackManifest:
    """Return the manifest in a text; `place` names its pack in errors.

    Raises:
        PackRefused: the text is not JSON, or does not fit the schema.
    """
    try:
        value = json.loads(text)
    except (ValueError, RecursionError) as error:
        message = f"the manifest of {place} is not JSON ({clean_line(str(error), 120)}); build or fetch the pack again"
        raise PackRefused(message) from error
    _require(value, place)
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


@functools.cache
def _validator() -> Draft202012Validator:
    from jsonschema import Draft202012Validator  # noqa: PLC0415 - a home without packs needs it in no answer

    schema = resources.files("repertoire.packs").joinpath("manifest.schema.json").read_text(encoding="utf-8")
    return Draft202012Validator(json.loads(schema))


def _require(value: Any, place: str) -> None:
    for fault in _validator().iter_errors(value):
        where = "/".join(str(part) for part in fault.absolute_path) or "the top"
        message = f"the manifest of pack {place} is invalid: at {where}, {fault.message}"
        raise PackRefused(clean_line(message, 300))
