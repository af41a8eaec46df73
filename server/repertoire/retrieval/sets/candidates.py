"""Defines the candidates for a set, and deduplicates twins (components that do the same)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

NEARLY = 0.9  # share of its better twin's score from which on a lighter twin is preferred
LIGHTER = 2.0  # factor by which a lighter twin has fewer tokens


@dataclass(frozen=True)
class Candidate:
    """A component that may enter the set.

    It is a person's `own` if it is installed without a plugin. `needs` are the keys of its dependencies. Two
    candidates that share an entry of `twins` do the same. `covers` are the words of the task that it holds,
    `capabilities` the needed ones that it provides, `surely` the certainty of each (1 by default). `alike` tells by
    key how far another candidate does its job, 0 to 1. `lacking` are its requirements that this machine misses,
    `version_conflicts` by key the packages whose versions conflict. `bundle` names its bundle, `unit` the plugin
    that is installed with it, `unit_tokens` that plugin's tokens. `stale` is a note on its last change, `demoted`
    the evidence that it does harm; both are empty for most. `serves` is the chance that it serves the task, `helps`
    the chance that it serves or helps with a part; both are 0 where it was not graded. `helps_parts` has the same
    chance by open clause of the task, for those that it likely helps with. `past` tells how far
    similar requests, which it served, speak for it, 0 to 1; `refused`, whether they mostly refused it.
    """

    key: str
    name: str
    score: float
    tokens: int
    twins: frozenset[str] = frozenset()
    installed: bool = False
    own: bool = False
    covers: frozenset[str] = frozenset()
    capabilities: frozenset[str] = frozenset()
    surely: Mapping[str, float] = field(default_factory=dict)
    needs: tuple[str, ...] = ()
    conflicts: frozenset[str] = frozenset()
    version_conflicts: Mapping[str, str] = field(default_factory=dict)
    lacking: tuple[str, ...] = ()
    alike: Mapping[str, float] = field(default_factory=dict)
    bundle: str = ""
    unit: str = ""
    unit_tokens: int = 0
    stale: str = ""
    demoted: str = ""
    serves: float = 0.0
    helps: float = 0.0
    helps_parts: Mapping[int, float] = field(default_factory=dict)
    past: float = 0.0
    refused: bool = False

    def name_beside(self, other: Candidate) -> str:
        """Return the name that tells a candidate from another one: with its bundle where both have the same."""
        return f"{self.name} of {self.bundle}" if self.name == other.name and self.bundle else self.name


def merged(ranked: Sequence[Candidate]) -> tuple[list[Candidate], dict[str, str]]:
    """Return one candidate of each group of twins, and the key of the kept twin by each candidate's key.

    It stands at the place of the best twin. Preferred is a twin that lacks no requirement, then one that does no harm,
    then an installed one, then one that is not stale, then one with far fewer tokens, then the first.
    """
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
    """Tell whether a candidate scores nearly as high as the kept twin and has far fewer tokens."""
    alike = _standing(candidate) == _standing(kept) and candidate.score >= NEARLY * kept.score
    return alike and LIGHTER * max(candidate.unit_tokens, candidate.tokens) <= kept.unit_tokens


def _standing(candidate: Candidate) -> tuple[bool, bool, bool, bool]:
    return bool(candidate.lacking), bool(candidate.demoted), not candidate.installed, bool(candidate.stale)
