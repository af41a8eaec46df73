"""Defines the settings that a pack carries (kg_config.json): how it was read, and which stages its questions pass."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from repertoire.documentation.schemas import read

CONFIG_BYTES = 10_000
_SCHEMA = "config.schema.json"


@dataclass(frozen=True)
class PackConfig:
    """The settings of a pack; `quality_percent` is None where it leaves the least quality to the person's settings.

    The stages that no pack may switch are those without which its answer could not be judged: text, vectors, gate.
    """

    docstrings: bool = False
    depth: int = 0
    pages: int = 0  # of a website; 0: it was built from none
    on: tuple[str, ...] = ()
    off: tuple[str, ...] = ()
    quality_percent: int | None = None


def config_json(config: PackConfig) -> str:
    """Return settings as the text of their file, the same for equal settings."""
    site: dict[str, Any] = {"depth": config.depth, "pages": config.pages} if config.pages else {}
    quality = {} if config.quality_percent is None else {"quality_percent": config.quality_percent}
    value = {
        "build": {"docstrings": config.docstrings, **site},
        "query": {"with": list(config.on), "without": list(config.off), **quality},
    }
    return json.dumps(value, indent=2) + "\n"


def read_config(text: str, *, place: str) -> PackConfig:
    """Return the settings in a text; `place` names their pack or file in errors.

    Raises:
        PackRefused: the text is not JSON, or does not fit the schema.
    """
    value = read(text, _SCHEMA, f"kg_config.json of {place}")
    build, query = value.get("build", {}), value.get("query", {})
    return PackConfig(
        build.get("docstrings", False),
        build.get("depth", 0),
        build.get("pages", 0),
        tuple(query.get("with", ())),
        tuple(query.get("without", ())),
        query.get("quality_percent"),
    )
