"""Computes popularity over all sources: how many carry a component, and how often others name it."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

STATED = ("installs", "downloads", "stars", "unique_installs", "users")  # what a marketplace may tell of a plugin


@dataclass(frozen=True)
class Carrier:
    """A component as seen beside those of all other sources."""

    node_id: int
    type: str
    name: str
    source: str
    stated: float = 0.0  # installs or stars, where a marketplace says


def _name(carrier: Carrier) -> tuple[str, str]:
    return carrier.type, carrier.name.lower().replace("_", "-").replace(" ", "-")


def popularity(carriers: Iterable[Carrier], named: Mapping[int, float]) -> dict[int, float]:
    """Return how popular each component is, 0 for one that is carried once and named nowhere.

    It adds the sources that carry it, how strongly others name or need it (`named`, by node id), and what a marketplace
    says, each by its logarithm.
    """
    listed = list(carriers)
    sources: dict[tuple[str, str], set[str]] = {}
    for carrier in listed:
        sources.setdefault(_name(carrier), set()).add(carrier.source)
    return {
        carrier.node_id: round(
            math.log2(len(sources[_name(carrier)]))
            + 0.5 * math.log2(1.0 + named.get(carrier.node_id, 0.0))
            + math.log10(1.0 + carrier.stated),
            3,
        )
        for carrier in listed
    }


def stated_popularity(details: Mapping[str, Any]) -> float:
    """Return how often a marketplace says that a plugin is installed, loaded or starred; 0 where it does not."""
    return max((_number(details.get(key)) for key in STATED), default=0.0)


def _number(value: Any) -> float:
    return float(value) if isinstance(value, (int, float)) and not isinstance(value, bool) and 0 < value < 1e9 else 0.0
