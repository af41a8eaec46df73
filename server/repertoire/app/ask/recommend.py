"""Recommends the smallest set of components for a task, with reasons, near misses, install lines and warnings."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from repertoire.app.ask.clarification import clarifying_facets
from repertoire.app.ask.combinations import combinations, companions, missing_data_notes, unknown_name_notes
from repertoire.app.ask.gaps import gaps_of
from repertoire.app.ask.requirements import dependencies
from repertoire.app.ask.set_candidates import (
    CandidatePool,
    RecommendationContext,
    candidate_pool,
    machine_check,
    names_of,
    twin_marks,
)
from repertoire.app.sources.vocabulary import shipped_vocabulary
from repertoire.domain.answer import Dependency, Hit, Item, Other, Query, Recommendation, Task
from repertoire.domain.component import PLUGIN, Component
from repertoire.domain.errors import InvalidRequest
from repertoire.learning.pasted import without_pasted
from repertoire.retrieval.binding import lead_of
from repertoire.retrieval.confidence import SET_THRESHOLD, SURE_THRESHOLD, fits
from repertoire.retrieval.pipeline import Pipeline
from repertoire.retrieval.plan import RECOMMEND, SIMPLE, combined_topic
from repertoire.retrieval.ranking import Ranking
from repertoire.retrieval.sets import whynot
from repertoire.retrieval.sets.assemble import Assembly, SetChoices, SetLimits
from repertoire.retrieval.sets.roles import Chosen, still_open
from repertoire.retrieval.sets.whynot import Case, Refusal, why_not
from repertoire.retrieval.snapshot import Snapshot

MAX_MEMBERS = 5  # default size of a set: two or three members help most, and further ones soon harm
_GRADED_MEMBERS = 3  # largest set that grades choose
_MEMBERS_IN_PARTS = 4  # and of a task in parts
_NEAR = 5  # runners-up that an answer names
_ALTERNATIVES = 3  # alternatives that an answer names for each member
_COMPANIONS, _TOGETHER = 2, 0.5  # an answer names so many companions of a set, of at least this strength
_OFF_TOPIC_WEIGHT = 0.5  # weight of the log-odds against a set for a task that is far from nearly every component
_SEVERAL_CAPABILITIES = 3  # a short task that names so many capabilities gets more than one component
_UNSURE_SET_FACTOR = 2.5  # factor on the odds that a set is named: an unsure set may still help
_PASTED = "the task is read without the lines that were pasted with it"


@dataclass(frozen=True)
class _Answered:
    """A chosen set with the ranking and the candidates that it was chosen from."""

    ranking: Ranking
    pool: CandidatePool
    case: Case

    @property
    def assembly(self) -> Assembly:
        """Return the chosen set."""
        return self.case.assembly


def recommend(
    pipeline: Pipeline,
    task: Task,
    *,
    muted: frozenset[str] = frozenset(),
    environment: Mapping[str, str] | None = None,
) -> Recommendation:
    """Recommend the few components that serve a task, and those that they need, without `muted` ids and sources.

    With an environment, the requirements of components are checked on this machine.

    Raises:
        InvalidRequest: the task holds no word, or a limit allows no component at all.
    """
    topic = combined_topic(task.text)
    answered = _answered(pipeline, replace(task, text=topic) if topic else task, muted, environment)
    names = (*task.using, *((topic,) if topic else ()))
    beside = companions(pipeline, answered.ranking, names, muted=muted)
    known = combinations(pipeline, answered.ranking, topic, muted=muted) if topic else ()
    ranking = answered.ranking
    pasted = () if topic or without_pasted(task.text) == task.text else (_PASTED,)
    names_missing, data_missing = unknown_name_notes(ranking, task.using), missing_data_notes(ranking, topic, known)
    degraded = (*ranking.degraded, *pasted, *names_missing, *data_missing)
    facets = () if topic else clarifying_facets(ranking)
    if facets:
        return replace(_empty_answer(ranking, answered.pool), facets=facets, near=(), degraded=degraded)
    if not _worth_naming(answered.ranking):
        return replace(
            _empty_answer(answered.ranking, answered.pool), companions=beside, combinations=known, degraded=degraded
        )
    found = _answer(answered)
    named = {item.hit.component.id for item in found.items}
    others = {one.component.id: one for one in (*_companions(pipeline, answered), *beside)}
    told = tuple(one for key, one in others.items() if key not in named)
    return replace(found, companions=told, combinations=known, degraded=degraded)


def verdict(
    pipeline: Pipeline,
    task: Task,
    component: Component,
    *,
    muted: frozenset[str] = frozenset(),
    environment: Mapping[str, str] | None = None,
) -> tuple[Ranking, Item | Other | None]:
    """Rank all components for a task; return the ranking and why one component is or is not in the set.

    The reason is None if the component ranks too low to be considered, or no set is worth naming.
    """
    answered = _answered(pipeline, task, muted, environment)
    for chosen in answered.assembly.chosen:
        if chosen.key == component.id:
            return answered.ranking, _item(answered, chosen)
    ranked = {candidate.key for candidate in answered.case.ranked}
    if component.id not in ranked or not _worth_naming(answered.ranking):
        return answered.ranking, None
    return answered.ranking, _left_out(answered, answered.pool.hit(component.id))


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


def _limits(task: Task, ranking: Ranking) -> SetLimits:
    """Return the limits of a set.

    Grades choose few members. The set for a task that names several capabilities is completed by what likely helps with
    one that is still open, unless the task is long and names them in passing. Among single tools, which no grade was
    learned on, the set for such a task in several clauses is that of the highest expected F1. Without grades a simple
    task gets one component, unless it names several capabilities.
    """
    named = len(ranking.plan.capabilities)
    in_parts = bool(ranking.plan.clauses) and named > 1
    if task.limit is None and ranking.grades is not None and not (in_parts and ranking.snapshot.mostly_tools):
        parts = _MEMBERS_IN_PARTS if named > 1 and ranking.plan.brevity > 0.0 else 0
        return SetLimits(budget=task.budget, size=_GRADED_MEMBERS, graded=True, parts=parts)
    if task.limit is None and ranking.plan.complexity == SIMPLE and named < _SEVERAL_CAPABILITIES:
        return SetLimits(budget=task.budget, size=1, expected=1.0)
    expected = task.limit or ranking.plan.size
    return SetLimits(budget=task.budget, size=task.limit or MAX_MEMBERS, expected=float(expected))


def _answered(
    pipeline: Pipeline, task: Task, muted: frozenset[str], environment: Mapping[str, str] | None
) -> _Answered:
    _check_limits(task)
    ranking = _discount_off_topic(pipeline.rank(_query(task), intent=RECOMMEND, muted=muted))
    check = None if environment is None else machine_check(ranking.snapshot.summaries, environment, task.project)
    pool = candidate_pool(pipeline, ranking, RecommendationContext(muted, task.using, check))
    choices, limits = SetChoices.of(pool.allowed(), pool.others()), _limits(task, ranking)
    return _Answered(ranking, pool, Case(pool.allowed(), pool.others(), limits, choices, choices.best(limits)))


def _worth_naming(ranking: Ranking) -> bool:
    """Return whether a set is likely enough to be named, if only as unsure."""
    if ranking.chance is not None:
        return ranking.chance >= SET_THRESHOLD
    if ranking.fits:
        return True
    return fits(_scale_odds(ranking.confidence, _UNSURE_SET_FACTOR), among=len(ranking.snapshot))


def _discount_off_topic(ranking: Ranking) -> Ranking:
    """Return a ranking with less confidence if the task needs no component or lies far from every component."""
    if ranking.chance is not None:
        likely = _scale_odds(ranking.chance, math.exp(min(ranking.need, 0.0)))
        return replace(ranking, chance=likely, confidence=likely, fits=likely >= SURE_THRESHOLD)
    if not ranking.beyond:
        return ranking
    sure = _scale_odds(ranking.confidence, math.exp(_OFF_TOPIC_WEIGHT * ranking.beyond))
    return replace(ranking, confidence=sure, fits=ranking.fits and fits(sure, among=len(ranking.snapshot)))


def _scale_odds(sure: float, times: float) -> float:
    """Return a probability after its odds are multiplied by a factor."""
    odds = times * sure / max(1.0 - sure, 1e-9)
    return odds / (1.0 + odds)


def _empty_answer(ranking: Ranking, pool: CandidatePool) -> Recommendation:
    return Recommendation(
        (),
        pool.ranked[:_NEAR],
        fits=False,
        confidence=ranking.confidence,
        report=ranking.report,
        degraded=ranking.degraded,
    )


def _answer(answered: _Answered) -> Recommendation:
    ranking, pool = answered.ranking, answered.pool
    items = tuple(_item(answered, chosen) for chosen in answered.assembly.chosen)
    still = still_open(ranking.plan.capabilities, [pool.candidates[item.hit.component.id] for item in items])
    likely = ranking.implied.likely if ranking.implied else {}
    members = (f"{item.hit.component.name}. {lead_of(item.hit.component.description)}" for item in items)
    gaps = gaps_of(ranking.plan.query.text, still, shipped_vocabulary(), likely, members)
    near = _runners_up(pool.ranked, items)
    return Recommendation(
        items=items,
        near=near,
        gaps=gaps,
        unprovided=_unprovided(ranking.snapshot, gaps),
        why_not=tuple(
            _left_out(answered, hit)
            for hit in (*_demoted(pool.ranked, items, near), *near)
            if hit.component.id in pool.candidates
        ),
        install=_install(item for item in items if not item.spare),
        reserve=_install(item for item in items if item.spare),
        dependencies=_dependencies(answered),
        warnings=tuple(_warnings(answered, items)),
        fits=ranking.fits,
        confidence=ranking.confidence,
        report=ranking.report,
        degraded=ranking.degraded,
    )


def _item(answered: _Answered, chosen: Chosen) -> Item:
    candidate = answered.pool.candidates[chosen.key]
    return Item(
        answered.pool.hit(chosen.key),
        chosen.role + _in_place_of(answered, chosen),
        candidate.tokens,
        lacking=candidate.lacking,
        alternatives=_alternatives(answered, chosen.key),
        spare=chosen.spare,
    )


def _in_place_of(answered: _Answered, chosen: Chosen) -> str:
    """Return a text that names the needed copies which a member replaces; empty if it replaces none."""
    choices, candidates = answered.case.choices, answered.pool.candidates
    needed = {need for member in answered.assembly.chosen for need in choices.known[member.key].needs}
    others = sorted(need for need in needed - {chosen.key} if choices.stands_for.get(need) == chosen.key)
    if chosen.key in needed or not others:
        return ""
    return f", in place of its twin {', '.join(candidates[other].key for other in others)}"


def _alternatives(answered: _Answered, key: str) -> tuple[Other, ...]:
    """Return the alternatives of a member: its near copies, stated alternatives, and candidates with a similar job."""
    pool, choices, asked = answered.pool, answered.case.choices, answered.assembly.asked
    members = {chosen.key for chosen in answered.assembly.chosen}
    found: dict[str, Other] = {}
    for hit in pool.ranked:
        other, name = hit.component.id, hit.component.name.lower()
        if other in members or other not in pool.candidates:
            continue
        if choices.stands_for.get(other) == key:
            found.setdefault(name, Other(hit.component, "the same"))
        elif other in pool.alternatives.get(key, ()):
            found.setdefault(name, Other(hit.component, "known as an alternative"))
        elif other in pool.parts.get(key, ()):
            continue  # one of the two contains the other: both are installed together
        elif asked and other in choices.known and whynot.member_of_same_job(choices, other, asked) == key:
            found.setdefault(name, Other(hit.component, "a like job"))
    # Alternatives with other content come before mere copies.
    return tuple(sorted(found.values(), key=lambda other: other.reason == "the same")[:_ALTERNATIVES])


def _companions(pipeline: Pipeline, answered: _Answered) -> tuple[Other, ...]:
    """Return ranked components that known combinations hold beside the set, without copies and rivals of members."""
    members = [answered.pool.hit(chosen.key).component for chosen in answered.assembly.chosen]
    snapshot, matched = answered.ranking.snapshot, answered.ranking.matched
    positions = [snapshot.position_of[member.id] for member in members]
    open_to = [hit.component.id for hit in answered.pool.ranked if _is_independent(answered, hit.component.id)]
    among = np.isin(snapshot.column("id"), open_to)
    found = matched.companions([int(snapshot.row_at[position]) for position in positions], among=among)
    close = [one for one in found if one.strength >= _TOGETHER]
    hits = pipeline.hits(answered.ranking, np.array([one.row for one in close], dtype=np.int64))
    components = {hit.component.id: hit.component for hit in hits}
    told = []
    for one in close:
        component = components.get(snapshot.summaries[one.row].id)
        if component is not None and matched.patterns is not None:
            told.append(Other(component, matched.patterns.sentence(one.known, one.beside)))
    return tuple(told[:_COMPANIONS])


def _is_independent(answered: _Answered, key: str) -> bool:
    """Return whether a candidate neither copies, rivals nor does the same job as a member of the set."""
    choices, asked = answered.case.choices, answered.assembly.asked
    if choices.stands_for.get(key) != key or choices.rivals(key, choices.members(asked)):
        return False
    return not whynot.member_of_same_job(choices, key, asked)


def _runners_up(ranked: Sequence[Hit], items: Sequence[Item]) -> tuple[Hit, ...]:
    """Return the best ranked hits outside the set, without copies of members or of earlier hits."""
    seen = {twin for item in items for twin in twin_marks(item.hit.component)}
    found = []
    for hit in ranked:
        twins = twin_marks(hit.component)
        if not seen & twins:
            found.append(hit)
        seen |= twins
    return tuple(found[:_NEAR])


def _demoted(ranked: Sequence[Hit], items: Sequence[Item], near: Sequence[Hit]) -> list[Hit]:
    """Return the first hits that were demoted for harm in use, are not in the set and are not runners-up (`near`)."""
    told = {hit.component.id for hit in (*near, *(item.hit for item in items))}
    return [hit for hit in ranked[:_NEAR] if hit.demoted and hit.component.id not in told]


def _left_out(answered: _Answered, hit: Hit) -> Other:
    refusal: Refusal = why_not(answered.case, hit.component.id)
    detail = refusal.detail
    if refusal.reason == whynot.CONFLICT and refusal.detail:
        detail = f": {detail}"
    reason = whynot.TEXTS[refusal.reason].format(other=refusal.other, detail=detail)
    if refusal.reason == whynot.CONFLICT and not refusal.other:
        reason = refusal.detail
    if refusal.reason == whynot.SAME_JOB and _shares_plugin(answered, hit, refusal.other):
        reason = f"{'holds' if hit.component.type == PLUGIN else 'comes with'} {refusal.other}"
    if refusal.stale:
        reason += f", and stale: {refusal.stale}"
    if hit.demoted:
        reason += f", and {hit.demoted}"
    return Other(hit.component, reason, refusal.remedy)


def _shares_plugin(answered: _Answered, hit: Hit, name: str) -> bool:
    """Return whether a component contains the member that it calls by a name, or is contained in it."""
    pool, known = answered.pool, answered.case.choices.known
    parts, own = pool.parts.get(hit.component.id, frozenset()), pool.candidates[hit.component.id]
    return any(one.key in parts and known[one.key].name_beside(own) == name for one in answered.assembly.chosen)


def _unprovided(snapshot: Snapshot, gaps: Sequence[str]) -> tuple[str, ...]:
    if not gaps:
        return ()
    provided = {snapshot.topology.names[end] for end in snapshot.provisions.capabilities.tolist()}
    return tuple(name for name in gaps if name not in provided)


def _install(items: Iterable[Item]) -> tuple[str, ...]:
    lines = (line for item in items if not item.hit.component.installed for line in item.hit.component.install)
    return tuple(dict.fromkeys(lines))


def _dependencies(answered: _Answered) -> tuple[Dependency, ...]:
    choices = answered.case.choices
    needs = {chosen.key: choices.needs(chosen.key) for chosen in answered.assembly.chosen}
    return dependencies(answered.ranking.snapshot, needs)


def _version_conflicts(answered: _Answered) -> list[str]:
    """Return a warning for each pair of members that require incompatible versions of a package."""
    known = answered.case.choices.known
    members = sorted(chosen.key for chosen in answered.assembly.chosen)
    return [
        f"{known[one].name} and {known[other].name} cannot share one {said}"
        for at, one in enumerate(members)
        for other in members[at + 1 :]
        if (said := known[one].version_conflicts.get(other, ""))
    ]


def _warnings(answered: _Answered, items: Sequence[Item]) -> list[str]:
    known, assembly = answered.case.choices.known, answered.assembly
    budget = answered.case.limits.budget
    found = [f"{item.hit.component.name} needs {lack}" for item in items for lack in item.lacking[:3]]
    found += [f"{item.hit.component.name}: {trouble}" for item in items for trouble in item.hit.troubles[:2]]
    found += _version_conflicts(answered)
    found += [f"{known[key].name} exceeds the budget of {budget} tokens" for key in assembly.too_large[:3]]
    found += [
        f"{names_of(known[key] for key in circle)} need each other: neither can be the first"
        for circle in assembly.circles
    ]
    return found
