"""Compares two environments: which of the facts that both state (language, framework, …) agree, weighted."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from repertoire import linear

_WEIGHTS = {"language": 0.3, "framework": 0.25, "os": 0.15, "package_manager": 0.1, "runtime": 0.1}
_MAJOR = 0.4  # share of the weight for the same name with another major version
_PARTS = linear.compile(r"^\s*(?P<name>[^\d\s][^\d=<>~^@]*?)[\s=<>~^@v]*(?P<version>\d[\w.+-]*)?\s*$")


@dataclass(frozen=True)
class Alignment:
    """The agreement of two environments, from 0 to 1 (all agree, or none can be compared), and the differences."""

    value: float
    different: tuple[str, ...] = ()  # "fastapi 0.115, here 0.128"


def align(told: Mapping[str, str], here: Mapping[str, str]) -> Alignment:
    """Compare a trace's environment with the present one, by the facts that both state."""
    agreed, weighed = 0.0, 0.0
    different = []
    for place, weight in _WEIGHTS.items():
        one, other = told.get(place, ""), here.get(place, "")
        if not one or not other:
            continue
        share = _share(one, other)
        agreed, weighed = agreed + weight * share, weighed + weight
        if share < 1.0:
            different.append(f"{one}, here {other}")
    return Alignment(agreed / weighed if weighed else 1.0, tuple(different))


def _share(one: str, other: str) -> float:
    (name, version), (other_name, other_version) = _parts(one), _parts(other)
    if name != other_name:
        return 0.0
    return 1.0 if not version or not other_version or _line(version) == _line(other_version) else _MAJOR


def _line(version: str) -> tuple[str, ...]:
    """Return the part of a version that identifies compatible releases: the major, below 1.0 also the minor."""
    numbers = version.split(".")
    return tuple(numbers[:2] if numbers[0] == "0" else numbers[:1])


def _parts(text: str) -> tuple[str, str]:
    found = _PARTS.fullmatch(text)
    if not found:
        return text.strip().lower(), ""
    return found["name"].strip().lower(), found["version"] or ""
