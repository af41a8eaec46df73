"""Chooses the set for a task: ranks components, assembles their best set, and fills its gaps clause by clause."""

from __future__ import annotations

import math
from collections.abc import Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from repertoire.app.ask.asked_capabilities import in_earnest
from repertoire.app.ask.gaps import gaps_of, worth_telling
from repertoire.app.ask.open_parts import PARTS, open_parts
from repertoire.app.ask.set_candidates import CandidatePool, RecommendationContext, candidate_pool, machine_check
from repertoire.app.sources.vocabulary import shipped_vocabulary
from repertoire.domain.answer import Query, Task
from repertoire.domain.errors import InvalidRequest
from repertoire.learning.pasted import without_pasted
from repertoire.retrieval.binding import lead_of
from repertoire.retrieval.confidence import SET_THRESHOLD, SURE_THRESHOLD, chance, chance_of_another, fits
from repertoire.retrieval.fuse import NAME
from repertoire.retrieval.need import without_message
from repertoire.retrieval.pipeline import Pipeline
from repertoire.retrieval.plan import RECOMMEND, SIMPLE
from repertoire.retrieval.ranking import Ranking
from repertoire.retrieval.sets.assemble import Assembly, SetLimits, SetSearch
from repertoire.retrieval.sets.choices import SetChoices
from repertoire.retrieval.sets.goodness import gives_way
from repertoire.retrieval.sets.roles import Spares, still_open
from repertoire.retrieval.sets.whynot import Case
from repertoire.retrieval.why import NOTED_PAST

MAX_MEMBERS = 5  # default size of a set: two or three members help most, and further ones soon harm
_GRADED_MEMBERS = 3  # largest set that grades choose
_MEMBERS_IN_PARTS = 4  # and of a task in parts
# Words of a task up to which its clauses are asked apart. Those of longer ones mostly tell what is there ("a websocket
# pushes updates"): of 65 members for clauses of 49 prompts, read by eye, 60 of 100 helped, and 8 of 10 up to here.
_WORDS_IN_PARTS = 24
_OFF_TOPIC_WEIGHT = 0.5  # weight of the log-odds against a set for a task that is far from nearly every component
_SEVERAL_CAPABILITIES = 3  # a short task that names so many capabilities gets more than one component
_UNSURE_SET_FACTOR = 2.5  # factor on the odds that a set is named: an unsure set may still help


@dataclass(frozen=True)
class ChosenSet:
    """A chosen set with the ranking and the candidates that it was chosen from."""

    ranking: Ranking
    pool: CandidatePool
    case: Case

    @property
    def assembly(self) -> Assembly:
        """Return the members, and what kept others out."""
        return self.case.assembly

    @property
    def worth_naming(self) -> bool:
        """Whether a set is likely enough to be named, if only as unsure."""
        ranking = self.ranking
        if ranking.chance is not None:
            return ranking.chance >= SET_THRESHOLD
        if ranking.fits:
            return True
        return fits(_scale_odds(ranking.confidence, _UNSURE_SET_FACTOR), among=len(ranking.snapshot))

    @cached_property
    def confidence(self) -> float:
        """The chance that the set serves the task: that of the ranking's first, less where no member serves as likely.

        So it is where the first may not enter: it exceeds the budget, or no set may hold what it needs. What served
        similar requests speaks for a set that holds it, and for no other; so does the name of a component.
        """
        ranking, asked = self.ranking, self.assembly.asked
        if ranking.grades is None or not asked:
            return ranking.confidence
        members, row = [self.pool.candidates[key] for key in asked], int(ranking.answering[0])
        first, likeliest = ranking.chances(row)[0], max(member.serves for member in members)
        is_tried = any(member.past >= NOTED_PAST for member in members)
        sure = ranking.confidence if is_tried else ranking.unaided
        if self._lacks_the_named:
            sure = min(sure, chance(members[0].serves))
        stands = gives_way(first, likeliest, own=True) and (is_tried or ranking.past.of(row) < NOTED_PAST)
        return sure if stands else chance_of_another(sure, first, likeliest)

    @property
    def _lacks_the_named(self) -> bool:
        """Whether the task is the name of a component, as "docker" is of a server, and the set holds none so called."""
        ranking = self.ranking
        rows = [ranking.snapshot.row_of(member.key) for member in self.assembly.chosen]
        return NAME in ranking.parts and not (ranking.parts[NAME][rows] > 0.0).any()

    @property
    def fits(self) -> bool:
        """Whether the set is called fitting."""
        return self.ranking.fits and self.confidence >= min(self.ranking.confidence, SURE_THRESHOLD)

    @property
    def gaps(self) -> tuple[str, ...]:
        """The uncovered capabilities that are told; none of what a project is built with, which nobody asked for."""
        implied, request = self.ranking.implied, self.ranking.plan.request
        if request is not None and request.of_project:
            return ()
        return worth_telling(self.uncovered, implied.likely if implied else {})

    @cached_property
    def uncovered(self) -> tuple[str, ...]:
        """The capabilities that the task asks for and no member is for."""
        plan, implied = self.ranking.plan, self.ranking.implied
        chosen = [member.key for member in self.assembly.chosen]
        still = still_open(in_earnest(plan.capabilities, implied), [self.pool.candidates[key] for key in chosen])
        said = (self.pool.hit(key).component for key in chosen)
        members = (f"{component.name}. {lead_of(component.described)}" for component in said)
        return gaps_of(
            without_message(plan.query.text), still, shipped_vocabulary(), implied.likely if implied else {}, members
        )


def rank_for_set(pipeline: Pipeline, task: Task, *, muted: frozenset[str] = frozenset()) -> Ranking:
    """Rank all components for a task, without `muted` ids and sources, with the confidence of a set."""
    return _discount_off_topic(pipeline.rank(_query(task), intent=RECOMMEND, muted=muted))


def choose(
    pipeline: Pipeline,
    task: Task,
    *,
    muted: frozenset[str],
    refused: frozenset[str] = frozenset(),
    environment: Mapping[str, str] | None,
) -> ChosenSet:
    """Choose the set for a task, without `muted` ids and sources; an environment lets requirements be checked.

    Each clause that names a gap is asked apart, and what helps with it fills the gap: grades are given for the
    task as a whole, which "deploy it to AWS" is a small part of.

    Raises:
        InvalidRequest: the task holds no word, or a limit allows no component at all.
    """
    _check_limits(task)
    ranking = rank_for_set(pipeline, task, muted=muted)
    known = ranking.snapshot.summaries
    check = None if environment is None else machine_check(known, environment, task.project, refused)
    context = RecommendationContext(muted, task.using, check)
    limits = _limits(task, ranking, pipeline.technologies)
    first = _assembled(ranking, candidate_pool(pipeline, ranking, context), limits)
    if not limits.clauses or not first.worth_naming:
        return first
    members = np.array([ranking.snapshot.row_of(member.key) for member in first.assembly.chosen])
    log = pipeline.pace.stage_log()
    with log.stage(PARTS) as detail:
        parts = open_parts(pipeline, ranking, first.uncovered, members=members, muted=muted, log=log)
        detail.append(f"{len(parts)} clauses helped")
    degraded = (*ranking.degraded, *log.degraded)
    ranking = replace(ranking, report=(*ranking.report, *log.reports), degraded=degraded)
    if not parts:
        return replace(first, ranking=ranking)
    return _assembled(ranking, candidate_pool(pipeline, ranking, context, parts=parts), limits)


def _assembled(ranking: Ranking, pool: CandidatePool, limits: SetLimits) -> ChosenSet:
    ranked, others = pool.allowed(), pool.others()
    choices = SetChoices.of(ranked, others)
    return ChosenSet(ranking, pool, Case(ranked, others, limits, choices, SetSearch(choices, limits).best()))


def _check_limits(task: Task) -> None:
    if not any(letter.isalnum() for letter in task.text):
        message = "the task holds no word; describe the work to do"
        raise InvalidRequest(message)
    limits = {"a size": task.limit, "a budget": task.budget}
    empty = " and ".join(f"{what} of {most}" for what, most in limits.items() if most is not None and most < 1)
    if empty:
        message = f"{empty} leaves room for nothing; use 1 or more"
        raise InvalidRequest(message)


def _query(task: Task) -> Query:
    return Query(
        without_pasted(task.text),
        types=task.types,
        using=task.using,
        installed=task.installed,
        repository=task.repository,
        project=task.project,
        without=task.without,
        mode=task.mode,
    )


def _limits(task: Task, ranking: Ranking, technologies: AbstractSet[str]) -> SetLimits:
    """Return the limits of a set.

    Grades choose few members. The set for a task that names several capabilities is completed by what likely helps with
    one that is still open, unless the task is long and names them in passing. Among single tools, which no grade was
    learned on, the set for such a task in several clauses is that of the highest expected F1. Without grades a simple
    task gets one component, unless it names several capabilities.
    """
    named = len(in_earnest(ranking.plan.capabilities, ranking.implied))
    in_parts, most = bool(ranking.plan.clauses) and named > 1, task.limit or 0
    if ranking.grades is not None and not (in_parts and ranking.snapshot.mostly_tools):
        parts = _MEMBERS_IN_PARTS if named > 1 and ranking.plan.brevity > 0.0 else 0
        apart = named > 1 and len(ranking.plan.words) <= _WORDS_IN_PARTS and ranking.plan.effort.clauses
        clauses = _MEMBERS_IN_PARTS if apart else 0
        size = most or _GRADED_MEMBERS
        spares = Spares(not ranking.plan.clauses, technologies)
        limits = SetLimits(budget=task.budget, size=size, graded=True, spares=spares)
        return replace(limits, parts=parts, clauses=clauses, most=most)
    if not most and ranking.plan.complexity == SIMPLE and named < _SEVERAL_CAPABILITIES:
        return SetLimits(budget=task.budget, size=1, expected=1.0)
    expected = most or ranking.plan.size
    return SetLimits(budget=task.budget, size=most or MAX_MEMBERS, expected=float(expected), most=most)


def _discount_off_topic(ranking: Ranking) -> Ranking:
    """Return a ranking with less confidence if the task needs no component or lies far from every component."""
    if ranking.chance is not None:
        needed = math.exp(min(ranking.need, 0.0))
        likely, unaided = _scale_odds(ranking.chance, needed), _scale_odds(ranking.unaided, needed)
        return replace(ranking, chance=likely, confidence=likely, unaided=unaided, fits=likely >= SURE_THRESHOLD)
    if not ranking.beyond:
        return ranking
    near = math.exp(_OFF_TOPIC_WEIGHT * ranking.beyond)
    sure, unaided = _scale_odds(ranking.confidence, near), _scale_odds(ranking.unaided, near)
    return replace(
        ranking, confidence=sure, unaided=unaided, fits=ranking.fits and fits(sure, among=len(ranking.snapshot))
    )


def _scale_odds(sure: float, times: float) -> float:
    """Return a probability after its odds are multiplied by a factor."""
    odds = times * sure / max(1.0 - sure, 1e-9)
    return odds / (1.0 + odds)
