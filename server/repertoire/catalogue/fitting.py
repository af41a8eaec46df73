"""Chooses the few components that fit a project's profile: specific ones first, of different types; perhaps none."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass

# Terms of so many projects that they say little about one: never the only reason to name a component.
COMMON = frozenset(
    """build-tools ci-cd claude-code cli css dependency-management docker documentation github-actions
    javascript linting mcp nodejs packaging pytest python release-management secrets shell testing type-checking
    typescript unit-testing uv""".split()
)
_COMMON_WEIGHT = 0.25  # weight of a common term; other terms weigh 1
_IN_NAME, _ELSEWHERE = 1.5, 0.7  # factor of a term in the component's name, and of a term elsewhere
_SURE = 0.6  # certainty from which a term outside the name counts: the description says it more than once
_INSTALLED = 1.15  # factor of an installed component
_POPULAR, _MOST_POPULAR = 0.08, 2.0  # bonus for each step of popularity, and the number of steps that count
_BEGINS, _BEGUN = "scaffolding", 0.7  # factor of components that set up new projects: this one exists already
_NEW_PROJECT = re.compile(r"\b(?:skeletons?|boilerplate|new projects?|projects? from scratch)\b", re.IGNORECASE)
_SAME_KIND, _SAME_TERMS = 0.7, 0.5  # factors after a choice of the same type, and of a component with no new term
_READ = 400  # characters of a description that are read: its purpose stands at the beginning
_ENOUGH = 0.3  # threshold of a score, as a share of the best possible match of one term


@dataclass(frozen=True)
class FittingCandidate:
    """A component with the fields that fitting needs."""

    id: str
    name: str
    type: str
    description: str
    terms: Mapping[str, float]  # capabilities that it provides, with the certainty of each, 0 to 1
    installed: bool = False
    install: tuple[str, ...] = ()
    plugin: str = ""
    popularity: float = 0.0
    along: int = 0  # components that its install lines bring besides
    whole: bool = True  # false where these are only those that are known
    alone: bool = False  # it can be copied without the others of its plugin
    call: str = ""  # the name that starts it, once it is installed
    by_person: bool = False  # the client lets a person alone start it
    marketplace: str = ""  # of its plugin
    demand: float = 1.0  # divisor of its score; above 1 if people rarely follow suggestions of its kind


@dataclass(frozen=True)
class Fit:
    """A chosen component and the project's terms that it serves, the most specific first."""

    candidate: FittingCandidate
    terms: tuple[str, ...]


def weights(terms: Iterable[str], frequency: Mapping[str, int], total: int) -> dict[str, float]:
    """Return the weight of each term, 0 to 1: a term that few components have weighs most, a common one little."""
    scale = math.log(1 + max(total, 1))
    return {
        term: (_COMMON_WEIGHT if term in COMMON else 1.0) * math.log(1 + total / (1 + frequency.get(term, 0))) / scale
        for term in terms
    }


def choose(
    candidates: Sequence[FittingCandidate], weight: Mapping[str, float], *, absent: AbstractSet[str], most: int
) -> list[Fit]:
    """Choose the best components one by one; a component that serves no new term, or is of a chosen type, counts less.

    `absent` are terms that the project would show if it used them: components about those are for other projects.
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
    elsewhere = others / 3 + sum(candidate.terms[term] for term in foreign)  # its terms that the project lacks
    return total / math.sqrt(1 + elsewhere) * _quality(candidate) / candidate.demand


def _quality(candidate: FittingCandidate) -> float:
    popular = 1.0 + _POPULAR * min(max(candidate.popularity, 0.0), _MOST_POPULAR)
    says_so = _NEW_PROJECT.search(candidate.description[:_READ]) is not None
    begins = _BEGUN if says_so or candidate.terms.get(_BEGINS, 0.0) >= _SURE else 1.0
    return popular * begins * (_INSTALLED if candidate.installed else 1.0)


def _emphasis(candidate: FittingCandidate, term: str) -> float:
    return _IN_NAME if _names(candidate, term) else _ELSEWHERE


def _names(candidate: FittingCandidate, term: str) -> bool:
    return term.replace("-", "") in candidate.name.lower().replace("-", "").replace("_", "")


def _edition(description: str, terms: AbstractSet[str]) -> bool:
    """Tell whether a description is about a vendor's edition of one of these terms: "an AlloyDB for PostgreSQL"."""
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
