"""Reads the shipped starter catalogue with the standard library alone, because the session hook imports it.

`starter.json` holds facts about public components in our own words; `starter.schema.json` is its contract:

- `capabilities`: term -> `synonyms` that people type, which of these phrases are `ordinary` (words that texts also use
  in passing), and an optional `broader` term. Terms are kebab-case.
- `signals`: term -> `packages` and `files` that reveal it in a project; `*` is a wildcard. A package is a name as
  a manifest writes it (npm, PyPI, Go module, Maven artifact, gem, ...). A file pattern without a slash is matched
  against base names, one with a slash against the path from the project's root.
- `marketplaces`: marketplace name -> repository that defines it.
- `components`: `id` is `repository:path[#name]`, `name` the exact name in that repository, `path` the file (of a
  plugin: its folder, `.` for the root). `plugin` and `marketplace` are empty if it belongs to none.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from types import MappingProxyType
from typing import Any

STARTER = Path(__file__).with_name("starter.json")


@dataclass(frozen=True)
class CatalogueRequirement:
    """A requirement of a catalogue entry; `kind` is binary, env, mcp_server, component, runtime or package."""

    kind: str
    name: str


@dataclass(frozen=True)
class CatalogueEntry:
    """One public component of the catalogue: facts, and in our own words what it does and what it is for."""

    id: str
    type: str
    name: str
    repository: str
    path: str
    description: str
    capabilities: tuple[str, ...]
    depends_on: tuple[CatalogueRequirement, ...]
    install: tuple[str, ...]
    plugin: str
    marketplace: str
    licence: str  # SPDX id; NOASSERTION if the marketplace's file states none


@dataclass(frozen=True)
class Capability:
    """A capability term with its synonyms, the broader term that it implies (or none), and its ordinary phrases."""

    term: str
    synonyms: tuple[str, ...]
    broader: str
    ordinary: tuple[str, ...] = ()


@dataclass(frozen=True)
class Signal:
    """The package names and file names that reveal a capability term in a project; `*` is a wildcard."""

    packages: tuple[str, ...]
    files: tuple[str, ...]


@dataclass(frozen=True)
class Catalogue:
    """The whole starter catalogue; every term in an entry or a signal is a key of `capabilities`."""

    capabilities: Mapping[str, Capability]
    signals: Mapping[str, Signal]
    marketplaces: Mapping[str, str]
    components: tuple[CatalogueEntry, ...]

    def phrases(self) -> dict[str, str]:
        """Map each phrase that people type to its term: each synonym, and each term with blanks for hyphens.

        Phrases are in lower case and may hold one another (`helm chart`, `chart`): a reader takes the longest first.
        """
        phrases = {term.replace("-", " "): term for term in self.capabilities}
        for capability in self.capabilities.values():
            phrases.update(dict.fromkeys(capability.synonyms, capability.term))
        return phrases

    def ordinary(self) -> frozenset[str]:
        """Return the phrases that texts also use as everyday words: `plan`, `issue`, `performance`."""
        return frozenset(phrase for capability in self.capabilities.values() for phrase in capability.ordinary)


def load(path: Path | None = None) -> Catalogue:
    """Return the catalogue at a path, or else the shipped one, which is read once a process."""
    return _shipped() if path is None else _read(path)


@lru_cache(maxsize=1)
def _shipped() -> Catalogue:
    return _read(STARTER)


def _read(path: Path) -> Catalogue:
    data = json.loads(path.read_text(encoding="utf-8"))
    return Catalogue(
        capabilities=MappingProxyType(
            {
                term: Capability(
                    term, tuple(value["synonyms"]), value.get("broader", ""), tuple(value.get("ordinary", ()))
                )
                for term, value in data["capabilities"].items()
            }
        ),
        signals=MappingProxyType(
            {term: Signal(tuple(value["packages"]), tuple(value["files"])) for term, value in data["signals"].items()}
        ),
        marketplaces=MappingProxyType(data["marketplaces"]),
        components=tuple(_entry(value) for value in data["components"]),
    )


def _entry(value: Mapping[str, Any]) -> CatalogueEntry:
    return CatalogueEntry(
        id=value["id"],
        type=value["type"],
        name=value["name"],
        repository=value["repository"],
        path=value["path"],
        description=value["description"],
        capabilities=tuple(value["capabilities"]),
        depends_on=tuple(CatalogueRequirement(need["kind"], need["name"]) for need in value["depends_on"]),
        install=tuple(value["install"]),
        plugin=value.get("plugin", ""),
        marketplace=value.get("marketplace", ""),
        licence=value["licence"],
    )
