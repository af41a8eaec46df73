"""The candidates for a set, and which one of each group of twins stands for the others."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

NEARLY = 0.9  # of its better twin's score
LIGHTER = 2.0  # times fewer tokens


@dataclass(frozen=True)
class Candidate:
    """A component that may enter the set. `needs` are keys of others; two that share one of `twins` do the same.

    `covers` are words of the task, `capabilities` those of the needed ones that it provides, and `surely` how sure that
    is of each, 0 to 1 (fully, where nothing is told); `alike` tells by key how far others do its job, 0 to 1; `lacking`
    what it requires and this machine has not; `disputes` by key what it wants in a version that another cannot live
    with; `bundle` what it comes with; `unit` what is installed with it as a whole, and `unit_tokens` what that costs;
    `stale`, of one that is, since when; `demoted`, of one that does harm, on what evidence.
    """

    key: str
    name: str
    score: float
    tokens: int
    twins: frozenset[str] = frozenset()
    installed: bool = False
    covers: frozenset[str] = frozenset()
    capabilities: frozenset[str] = frozenset()
    surely: Mapping[str, float] = field(default_factory=dict)
    needs: tuple[str, ...] = ()
    conflicts: frozenset[str] = frozenset()
    disputes: Mapping[str, str] = field(default_factory=dict)
    lacking: tuple[str, ...] = ()
    alike: Mapping[str, float] = field(default_factory=dict)
    bundle: str = ""
    unit: str = ""
    unit_tokens: int = 0
    stale: str = ""
    demoted: str = ""


def without_twins(ranked: Sequence[Candidate]) -> list[Candidate]:
    """Keep one candidate of each group of twins, at the place of the best of them.

    It is the one that lacks nothing, else one that does no harm, else the installed one, else one that is not stale,
    else one that brings far less along, else the first.
    """
    return list(merged(ranked)[0])


def merged(ranked: Sequence[Candidate]) -> tuple[list[Candidate], dict[str, str]]:
    """Return one candidate of each group of twins, and a map from each twin's key to the kept one's."""
    kept: list[Candidate] = []
    at: dict[str, int] = {}
    place: dict[str, int] = {}
    for candidate in ranked:
        where = next((place[twin] for twin in sorted(candidate.twins) if twin in place), len(kept))
        place.update(dict.fromkeys(candidate.twins, where))
        at[candidate.key] = where
        if where == len(kept):
            kept.append(candidate)
        elif _standing(candidate) < _standing(kept[where]) or _is_lighter(candidate, kept[where]):
            kept[where] = replace(candidate, score=max(candidate.score, kept[where].score))
    return kept, {key: kept[where].key for key, where in at.items()}


def _is_lighter(candidate: Candidate, kept: Candidate) -> bool:
    """Tell whether one serves nearly as well as its better twin and brings far less along."""
    alike = _standing(candidate) == _standing(kept) and candidate.score >= NEARLY * kept.score
    return alike and LIGHTER * max(candidate.unit_tokens, candidate.tokens) <= kept.unit_tokens


def _standing(candidate: Candidate) -> tuple[bool, bool, bool, bool]:
    return bool(candidate.lacking), bool(candidate.demoted), not candidate.installed, bool(candidate.stale)
