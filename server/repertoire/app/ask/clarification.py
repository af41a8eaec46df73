"""Builds clarifying questions for a task that is too vague for a set: facets with the values that the graph holds."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from collections.abc import Set as AbstractSet
from functools import cache

from repertoire.catalogue import reading
from repertoire.domain.answer import Facet
from repertoire.retrieval.ranking import Ranking
from repertoire.retrieval.snapshot import Snapshot
from repertoire.retrieval.vague import too_vague

PART, GOAL, TECHNOLOGY = "part", "goal", "technology"
# The capabilities that the facets "part" and "goal" may offer: areas of work, and purposes of work.
_PARTS = """frontend backend databases mobile infrastructure ci-cd api-design data-analysis machine-learning
    llm-applications agents documents product-management marketing sales finance human-resources customer-support legal
    security operations claude-code""".split()
_GOALS = """performance refactoring debugging testing code-review documentation ui-design architecture planning
    deployment cost-optimization automation resilience observability scaffolding feature-development
    legacy-modernization content-writing research brainstorming accessibility error-handling compliance
    project-management presentations conversion-optimization dependency-management""".split()
# Need below which a prompt mostly goes on with what was said, unless it is as vague as this: "continue" has -.8 and
# 1.9, "do it" -4.9 and 3.6, "make it better" .05 and 5.7, "can you help me" -3.6 and 5.5.
_NEEDED, _SURELY_VAGUE = -0.5, 4.5
_VALUES, _FEWEST = 4, 2  # a facet offers at most so many values, and is left out with fewer than so many


def clarifying_facets(ranking: Ranking, technologies: AbstractSet[str]) -> tuple[Facet, ...]:
    """Return the clarifying facets for a task that is too vague for a set, or names no job; none for any other.

    `technologies` are all capabilities that are one.
    """
    plan, narrower = ranking.plan, _narrower()
    if not plan.names_no_job and not _is_vague(ranking, frozenset(narrower)):
        return ()
    provided, likely = _provided(ranking.snapshot), ranking.implied.likely if ranking.implied else {}
    named = plan.capabilities[:1]
    parts = _likeliest(narrower[named[0]] if named else _PARTS, likely, provided, plan.stack.uses)
    goals = _likeliest((goal for goal in _GOALS if goal not in named), likely, provided)
    facets = (Facet(PART, parts), Facet(GOAL, goals), Facet(TECHNOLOGY, _technologies(ranking, provided, technologies)))
    return tuple(facet for facet in facets if len(facet.values) >= _FEWEST)


def _is_vague(ranking: Ranking, areas: frozenset[str]) -> bool:
    plan = ranking.plan
    if ranking.implied is None or (ranking.need < _NEEDED and ranking.vague < _SURELY_VAGUE):
        return False
    return too_vague(ranking.vague, ranking.chance, plan.capabilities, areas, in_project=bool(plan.stack.uses))


def _likeliest(
    terms: Iterable[str],
    likely: Mapping[str, float],
    provided: Counter[str],
    used: frozenset[str] = frozenset(),
) -> tuple[str, ...]:
    """Return the terms that a task most likely needs, narrower ones counted in: provided first, then `used` ones."""
    below = {term: _below(term) for term in terms}
    called = {
        term: used.isdisjoint(those) - sum(likely.get(one, 0.0) for one in those) for term, those in below.items()
    }
    return tuple(sorted(called, key=lambda term: (not provided[term], called[term]))[:_VALUES])


def _technologies(ranking: Ranking, provided: Counter[str], every: AbstractSet[str]) -> tuple[str, ...]:
    """Return the technologies of the named area that most components provide; none if the project uses one of them."""
    below = {term for area in ranking.plan.capabilities[:1] for term in _below(area)}
    known = [term for term in below & every if provided[term]]
    if ranking.plan.stack.uses.intersection(known):
        return ()
    return tuple(sorted(known, key=lambda term: (-provided[term], term))[:_VALUES])


def _provided(snapshot: Snapshot) -> Counter[str]:
    """Count for each capability the components, and the combinations of them, that provide it."""
    return Counter(snapshot.topology.names[end] for end in snapshot.provisions.capabilities.tolist())


@cache
def _narrower() -> Mapping[str, tuple[str, ...]]:
    """Map each broad capability of the vocabulary to the capabilities directly below it."""
    found: defaultdict[str, list[str]] = defaultdict(list)
    for term, capability in reading.load().capabilities.items():
        if capability.broader:
            found[capability.broader].append(term)
    return {area: tuple(terms) for area, terms in found.items()}


def _below(term: str) -> list[str]:
    """Return a capability and all narrower capabilities."""
    return [term, *(one for narrower in _narrower().get(term, ()) for one in _below(narrower))]
