"""Computes popularity over all sources: how many carry a component, and how often others name it."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

STATED = ("installs", "downloads", "stars", "unique_installs", "users")  # keys of popularity in a marketplace


@dataclass(frozen=True)
class Carrier:
    """A component in one source, with the popularity that its marketplace states."""

    node_id: int
    type: str
    name: str
    source: str
    stated: float = 0.0  # installs or stars, if a marketplace states them


def _name(carrier: Carrier) -> tuple[str, str]:
    return carrier.type, carrier.name.lower().replace("_", "-").replace(" ", "-")


def popularity(carriers: Iterable[Carrier], named: Mapping[int, float]) -> dict[int, float]:
    """Compute the popularity of each component; 0 if one source carries it and no other component names it.

    It adds the logarithms of: the number of sources that carry it, the weight of edges from others that name or need it
    (`named`, by node id), and the popularity that its marketplace states.
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
    """Return the installs, downloads or stars that a marketplace states for a plugin; 0 if it states none."""
    return max((_number(details.get(key)) for key in STATED), default=0.0)


def _number(value: Any) -> float:
    return float(value) if isinstance(value, (int, float)) and not isinstance(value, bool) and 0 < value < 1e9 else 0.0
