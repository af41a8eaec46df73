"""Soundness: reasons against a component, nearly all from outside its own text, as one factor with a lower bound."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

GONE, LOST, MOVED, STALE, FLAGGED, ADVISED, AFFECTED, POSSIBLE, LACKING, RETIRED = (
    "gone",  # a dependency was removed from its source
    "lost",  # the component's own source cannot be read any more
    "moved",  # its source has another address now, and still redirects there
    "stale",  # a dependency is stale
    "flagged",  # static checks found something grave in a dependency
    "advised against",  # a dependency was muted, or tasks go worse with it
    "affected",  # it pins a package version that a security advisory concerns
    "possible",  # it allows a package version that a security advisory concerns
    "lacking",  # a requirement is not met on this machine
    "retired",  # its author calls it deprecated, or the plugin that it is a part of
)
MIN_SOUNDNESS = 0.5  # lower bound: troubles of its dependencies must not bury a component that fits
GRAVE = frozenset((GONE, FLAGGED, AFFECTED))
RETIRED_HEAD = 100  # characters of a description in which its author says so
_RETIRED = re.compile(
    r"[\W_]{0,8}(?:this (?:skill|agent|command|plugin|hook|(?:mcp )?server) (?:is|has been) (?:now )?)?"
    r"(?:deprecated|obsolete|discontinued|no longer maintained|superseded by)\b"
    r"(?:[\])*_]|\s?[:.;!]|\s(?:[\u2013\u2014-]{1,2}\s|in favou?r of\b|since\b|as of\b|and replaced\b|use\b|[0-9`])"
    r"|\s*\Z)",
    re.IGNORECASE,
)  # not "Deprecated-API finder", nor "Obsolete code remover"
_COSTS = {
    GONE: 0.7,
    LOST: 0.9,
    MOVED: 1.0,
    STALE: 0.9,
    FLAGGED: 0.7,
    ADVISED: 0.8,
    AFFECTED: 0.6,
    POSSIBLE: 0.95,
    LACKING: 0.9,
    RETIRED: 0.7,
}


@dataclass(frozen=True)
class Trouble:
    """One reason against a component, in one line."""

    kind: str
    text: str


def is_retired(description: str) -> bool:
    """Tell whether a description begins with its author's word that the component is deprecated."""
    return _RETIRED.match(description[:RETIRED_HEAD]) is not None


def soundness(troubles: Iterable[Trouble]) -> float:
    """Compute a component's soundness: 1 without troubles, never below the bound; each kind of trouble counts once."""
    score = 1.0
    for kind in {trouble.kind for trouble in troubles}:
        score *= _COSTS[kind]

    return max(score, MIN_SOUNDNESS)
