"""Makes candidates, and asks for the set that is assembled of them."""

from repertoire.retrieval.sets.assemble import SetLimits, SetSearch
from repertoire.retrieval.sets.candidates import Candidate
from repertoire.retrieval.sets.choices import SetChoices
from repertoire.retrieval.sets.roles import Spares
from repertoire.retrieval.sets.whynot import Case, why_not

PLENTY = 100_000
GRADED = SetLimits(budget=PLENTY, size=3, graded=True, spares=Spares())


def candidate(key, **more):
    fields = {"name": key, "score": 1.0, "tokens": 100, "twins": frozenset({key}), **more}
    return Candidate(key=key, **fields)


def chosen(ranked, others=(), **limits):
    return [(member.key, member.role) for member in assemble(ranked, others, SetLimits(**limits)).chosen]


def refusal(key, ranked, others=(), **limits):
    case_limits = SetLimits(**limits)
    shelf = SetChoices.of(ranked, others)
    return why_not(Case(ranked, others, case_limits, shelf, SetSearch(shelf, case_limits).best()), key)


def assemble(ranked, others, limits):
    return SetSearch(SetChoices.of(ranked, others), limits).best()


def graded(key, serves, helps):
    return Candidate(key=key, name=key, score=serves, tokens=1, serves=serves, helps=helps)
