"""Chooses the few components that fit a project's profile, specific ones first, of different kinds; or none."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass

# Found in so many projects that they say little about one: never the only reason to name a component.
COMMON = frozenset(
    """build-tools ci-cd claude-code cli css dependency-management docker documentation github-actions
    javascript linting mcp nodejs packaging pytest python release-management secrets shell testing type-checking
    typescript unit-testing uv""".split()
)
_COMMON_WEIGHT = 0.25
_IN_NAME, _ELSEWHERE = 1.5, 0.7  # what a component is named after, it is about
_SURE = 0.6  # how sure a term outside the name is: the description says it more than once
_INSTALLED = 1.15
_POPULAR, _MOST_POPULAR = 0.08, 2.0  # what each step of popularity adds, and how many count
_BEGINS, _BEGUN = "scaffolding", 0.7  # what sets up new projects is little use in one that is there
_SAME_KIND, _SAME_TERMS = 0.7, 0.5  # what is left of a score beside a chosen one of its kind, or with nothing new
_READ = 400  # a description says what it is for in its first characters, so many are read
_ENOUGH = 0.3  # a match below this share of the best possible single match is weak


@dataclass(frozen=True)
class FittingCandidate:
    """A component as far as fitting looks at it."""

    id: str
    name: str
    type: str
    description: str
    terms: Mapping[str, float]  # what it provides, and how surely, 0 to 1
    installed: bool = False
    install: tuple[str, ...] = ()
    plugin: str = ""
    popularity: float = 0.0
    demand: float = 1.0  # how many times the usual score it needs, since what is of its kind is rarely followed


@dataclass(frozen=True)
class Fit:
    """A chosen candidate and the terms of the project that it serves, the most telling first."""

    candidate: FittingCandidate
    terms: tuple[str, ...]


def weights(terms: Iterable[str], frequency: Mapping[str, int], total: int) -> dict[str, float]:
    """Return how telling each term is, 0 to 1: the rarer among components the more, common ones little."""
    scale = math.log(1 + max(total, 1))
    return {
        term: (_COMMON_WEIGHT if term in COMMON else 1.0) * math.log(1 + total / (1 + frequency.get(term, 0))) / scale
        for term in terms
    }


def choose(
    candidates: Sequence[FittingCandidate], weight: Mapping[str, float], *, absent: AbstractSet[str], most: int
) -> list[Fit]:
    """Return the best candidates, each for something that the ones before it do not serve already.

    `absent` are terms that would have been seen if the project used them: what is about those is for other projects.
    """
    scored = {candidate.id: _score(candidate, weight, absent) for candidate in candidates}
    waiting = [candidate for candidate in candidates if scored[candidate.id] > 0]
    chosen: list[Fit] = []
    served: set[str] = set()
    while waiting and len(chosen) < most:
        kinds = {fit.candidate.type for fit in chosen}
        best = max(waiting, key=lambda c: (scored[c.id] * _beside(c, weight, kinds, served), c.popularity, c.id))
        if scored[best.id] * _beside(best, weight, kinds, served) < _ENOUGH:
            break
        terms = sorted(best.terms.keys() & weight.keys(), key=lambda term: (-weight[term] * best.terms[term], term))
        chosen.append(Fit(best, tuple(terms)))
        served.update(terms)
        names = {fit.candidate.name.lower() for fit in chosen}
        waiting = [candidate for candidate in waiting if candidate.name.lower() not in names]
    return chosen


def _score(candidate: FittingCandidate, weight: Mapping[str, float], absent: AbstractSet[str]) -> float:
    shared = candidate.terms.keys() & weight.keys()
    foreign = (candidate.terms.keys() & absent) - COMMON
    sure = any(_names(candidate, term) or candidate.terms[term] >= _SURE for term in shared - COMMON)
    if not sure or any(_names(candidate, term) for term in foreign) or _edition(candidate.description, shared):
        return 0.0
    total = sum(weight[term] * candidate.terms[term] * _emphasis(candidate, term) for term in shared)
    others = sum(candidate.terms[term] for term in candidate.terms.keys() - shared - foreign)
    elsewhere = others / 3 + sum(candidate.terms[term] for term in foreign)  # what it is about beside this project
    return total / math.sqrt(1 + elsewhere) * _standing(candidate) / candidate.demand


def _standing(candidate: FittingCandidate) -> float:
    popular = 1.0 + _POPULAR * min(max(candidate.popularity, 0.0), _MOST_POPULAR)
    begins = _BEGUN if candidate.terms.get(_BEGINS, 0.0) >= _SURE else 1.0
    return popular * begins * (_INSTALLED if candidate.installed else 1.0)


def _emphasis(candidate: FittingCandidate, term: str) -> float:
    return _IN_NAME if _names(candidate, term) else _ELSEWHERE


def _names(candidate: FittingCandidate, term: str) -> bool:
    return term.replace("-", "") in candidate.name.lower().replace("-", "").replace("_", "")


def _edition(description: str, terms: AbstractSet[str]) -> bool:
    """Tell whether it is for somebody's edition of what the project uses: "an AlloyDB for PostgreSQL"."""
    words = description[:_READ].split()
    of = (at for at, word in enumerate(words[:-1]) if word == "for" and at > 1)
    return any(
        words[at - 1][:1].isupper()
        and words[at - 2][-1] not in ".:;!?"  # there every word begins with a capital
        and _plain(words[at + 1]) in {_plain(term) for term in terms}
        for at in of
    )


def _plain(word: str) -> str:
    return "".join(filter(str.isalnum, word.lower()))


def _beside(candidate: FittingCandidate, weight: Mapping[str, float], kinds: set[str], served: set[str]) -> float:
    new = (candidate.terms.keys() & weight.keys()) - served - COMMON
    return (_SAME_KIND if candidate.type in kinds else 1.0) * (1.0 if new else _SAME_TERMS)
