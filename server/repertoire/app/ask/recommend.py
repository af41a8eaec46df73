"""Recommends the smallest set of components for a task, with reasons, near misses, install lines and warnings."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

import numpy as np

from repertoire.app.ask.chosen_set import ChosenSet, choose
from repertoire.app.ask.clarification import clarifying_facets
from repertoire.app.ask.combinations import combinations, companions, missing_data_notes, unknown_name_notes
from repertoire.app.ask.gaps import words_for
from repertoire.app.ask.own_setup import ANSWER, asks_own_setup
from repertoire.app.ask.requirements import dependencies
from repertoire.app.ask.set_candidates import CandidatePool, names_of, twin_marks
from repertoire.app.sources.vocabulary import shipped_vocabulary
from repertoire.domain.answer import Dependency, Hit, Item, Other, Recommendation, Task
from repertoire.domain.component import PLUGIN, Component, alone_line, stands_alone
from repertoire.domain.trust import INSTALLABLE, risk
from repertoire.learning.pasted import without_pasted
from repertoire.retrieval.pipeline import Pipeline
from repertoire.retrieval.plan import combined_topic
from repertoire.retrieval.ranking import Ranking
from repertoire.retrieval.sets import whynot
from repertoire.retrieval.sets.goodness import is_large
from repertoire.retrieval.sets.roles import Chosen
from repertoire.retrieval.sets.whynot import why_not
from repertoire.retrieval.snapshot import Snapshot

_NEAR = 5  # runners-up that an answer names
_ALTERNATIVES = 3  # alternatives that an answer names for each member
_COMPANIONS, _TOGETHER = 2, 0.5  # an answer names so many companions of a set, of at least this strength
_NO_JOB = "the request names no job that components of this type are for"
_PASTED = "the task is read without the lines that were pasted with it"


def recommend(
    pipeline: Pipeline,
    task: Task,
    *,
    muted: frozenset[str] = frozenset(),
    refused: frozenset[str] = frozenset(),
    environment: Mapping[str, str] | None = None,
) -> Recommendation:
    """Recommend the few components that serve a task, and those that they need, without `muted` ids and sources.

    With an environment, the requirements of components are checked on this machine, which `refused` ids do not meet.

    Raises:
        InvalidRequest: the task holds no word, or a limit allows no component at all.
    """
    topic = combined_topic(task.text)
    asked = replace(task, text=topic) if topic else task
    best = choose(pipeline, asked, muted=muted, refused=refused, environment=environment)
    names = (*task.using, *((topic,) if topic else ()))
    ranking = best.ranking
    beside = companions(pipeline, ranking, names, muted=muted)
    known = combinations(pipeline, ranking, topic, muted=muted) if topic else ()
    pasted = () if topic or without_pasted(task.text) == task.text else (_PASTED,)
    names_missing, data_missing = unknown_name_notes(ranking, task.using), missing_data_notes(ranking, topic, known)
    jobless = (_NO_JOB,) if ranking.plan.names_no_job and not topic else ()
    degraded = (*ranking.degraded, *pasted, *jobless, *names_missing, *data_missing)
    if asks_own_setup(task.text):
        return replace(_empty_answer(ranking, best.pool), near=(), degraded=(*degraded, ANSWER))
    facets = () if topic else clarifying_facets(ranking, pipeline.technologies)
    browses = ranking.plan.request is not None and best.worth_naming  # "agents for the frontend" wants some
    if jobless or (facets and not browses):
        return replace(_empty_answer(ranking, best.pool), facets=facets, near=(), degraded=degraded)
    if not best.worth_naming:
        return replace(_empty_answer(ranking, best.pool), companions=beside, combinations=known, degraded=degraded)
    found = _answer(best)
    named = {item.hit.component.id for item in found.items}
    others = {one.component.id: one for one in (*_companions(pipeline, best), *beside)}
    told = tuple(one for key, one in others.items() if key not in named)
    return replace(found, companions=told, combinations=known, degraded=degraded)


def verdict(
    pipeline: Pipeline,
    task: Task,
    component: Component,
    *,
    muted: frozenset[str] = frozenset(),
    refused: frozenset[str] = frozenset(),
    environment: Mapping[str, str] | None = None,
) -> tuple[Ranking, Item | Other | None]:
    """Rank all components for a task; return the ranking and why one component is or is not in the set.

    The reason is None if the component ranks too low to be considered, or no set is worth naming.
    """
    best = choose(pipeline, task, muted=muted, refused=refused, environment=environment)
    ranking = replace(best.ranking, confidence=best.confidence)
    for chosen in best.assembly.chosen:
        if chosen.key == component.id:
            return ranking, _item(best, chosen)
    ranked = {candidate.key for candidate in best.case.ranked}
    if component.id not in ranked or not best.worth_naming:
        return ranking, None
    return ranking, _left_out(best, best.pool.hit(component.id))


def _empty_answer(ranking: Ranking, pool: CandidatePool) -> Recommendation:
    return Recommendation(
        (),
        pool.ranked[:_NEAR],
        fits=False,
        confidence=ranking.confidence,
        report=ranking.report,
        degraded=ranking.degraded,
    )


def _answer(best: ChosenSet) -> Recommendation:
    ranking, pool = best.ranking, best.pool
    items = tuple(_item(best, chosen) for chosen in best.assembly.chosen)
    near = _runners_up(pool.ranked, items)
    return Recommendation(
        items=items,
        near=near,
        gaps=best.gaps,
        gap_words=words_for(ranking.plan.query.text, best.gaps, shipped_vocabulary()),
        unprovided=_unprovided(ranking.snapshot, best.gaps),
        why_not=tuple(
            _left_out(best, hit)
            for hit in (*_demoted(pool.ranked, items, near), *near)
            if hit.component.id in pool.candidates
        ),
        install=_install(best, [item for item in items if not item.spare]),
        reserve=_install(best, [item for item in items if item.spare]),
        dependencies=_dependencies(best),
        warnings=tuple(_warnings(best, items)),
        fits=best.fits,
        confidence=best.confidence,
        report=ranking.report,
        degraded=ranking.degraded,
    )


def _item(best: ChosenSet, chosen: Chosen) -> Item:
    candidate = best.pool.candidates[chosen.key]
    return Item(
        best.pool.hit(chosen.key),
        chosen.role + _in_place_of(best, chosen),
        candidate.tokens,
        lacking=candidate.lacking,
        alternatives=_alternatives(best, chosen.key),
        spare=chosen.spare,
    )


def _in_place_of(best: ChosenSet, chosen: Chosen) -> str:
    """Return a text that names the needed copies which a member replaces; empty if it replaces none."""
    choices, candidates = best.case.choices, best.pool.candidates
    needed = {need for member in best.assembly.chosen for need in choices.known[member.key].needs}
    others = sorted(need for need in needed - {chosen.key} if choices.stands_for.get(need) == chosen.key)
    if chosen.key in needed or not others:
        return ""
    return f", in place of its twin {', '.join(candidates[other].key for other in others)}"


def _alternatives(best: ChosenSet, key: str) -> tuple[Other, ...]:
    """Return the alternatives of a member: its near copies, stated alternatives, and candidates with a similar job."""
    pool, choices, asked = best.pool, best.case.choices, best.assembly.asked
    members = {chosen.key for chosen in best.assembly.chosen}
    # What holds another member, or is a part of it, is installed with the set already.
    left_out = members.union(*(pool.parts.get(member, ()) for member in members - {key}))
    found: dict[str, Other] = {}
    for hit in pool.ranked:
        other, name = hit.component.id, hit.component.name.lower()
        if other in left_out or other not in pool.candidates:
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


def _companions(pipeline: Pipeline, best: ChosenSet) -> tuple[Other, ...]:
    """Return ranked components that known combinations hold beside the set, without copies and rivals of members."""
    members = [best.pool.hit(chosen.key).component for chosen in best.assembly.chosen]
    snapshot, matched = best.ranking.snapshot, best.ranking.matched
    positions = [snapshot.position_of[member.id] for member in members]
    open_to = [hit.component.id for hit in best.pool.ranked if _is_independent(best, hit.component.id)]
    among = np.isin(snapshot.column("id"), open_to)
    found = matched.companions([int(snapshot.row_at[position]) for position in positions], among=among)
    close = [one for one in found if one.strength >= _TOGETHER]
    hits = pipeline.hits(best.ranking, np.array([one.row for one in close], dtype=np.int64))
    components = {hit.component.id: hit.component for hit in hits}
    told = []
    for one in close:
        component = components.get(snapshot.summaries[one.row].id)
        if component is not None and matched.patterns is not None:
            told.append(Other(component, matched.patterns.sentence(one.known, one.beside)))
    return tuple(told[:_COMPANIONS])


def _is_independent(best: ChosenSet, key: str) -> bool:
    """Return whether a candidate neither copies, rivals nor does the same job as a member of the set."""
    choices, asked = best.case.choices, best.assembly.asked
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


def _left_out(best: ChosenSet, hit: Hit) -> Other:
    refusal = why_not(best.case, hit.component.id)
    reason = refusal.text
    if refusal.reason == whynot.SAME_JOB and _shares_plugin(best, hit, refusal.other):
        reason = f"{'holds' if hit.component.type == PLUGIN else 'comes with'} {refusal.other}"
    if refusal.stale:
        reason += f", and stale: {refusal.stale}"
    if hit.demoted:
        reason += f", and {hit.demoted}"
    return Other(hit.component, reason, refusal.remedy)


def _shares_plugin(best: ChosenSet, hit: Hit, name: str) -> bool:
    """Return whether a component contains the member that it calls by a name, or is contained in it."""
    pool, known = best.pool, best.case.choices.known
    parts, own = pool.parts.get(hit.component.id, frozenset()), pool.candidates[hit.component.id]
    return any(one.key in parts and known[one.key].name_beside(own) == name for one in best.assembly.chosen)


def _unprovided(snapshot: Snapshot, gaps: Sequence[str]) -> tuple[str, ...]:
    if not gaps:
        return ()
    provided = {snapshot.topology.names[end] for end in snapshot.provisions.capabilities.tolist()}
    return tuple(name for name in gaps if name not in provided)


def _install(best: ChosenSet, items: Iterable[Item]) -> tuple[str, ...]:
    """Return the lines that install what is not there, what a member needs before it.

    Left out are those of members that `install` refuses.
    What can be had alone is not installed with a large plugin, which each session would pay for.
    """
    named = {item.hit.component.id: item.hit for item in items if not item.hit.there_as}
    in_order = dict.fromkeys(key for one in named for key in best.case.choices.closure(one))
    hits = (named[key] for key in in_order if key in named)
    missing = (hit for hit in hits if not hit.component.installed and risk(hit.component.flags) <= INSTALLABLE)
    return tuple(dict.fromkeys(line for hit in missing for line in _lines(best, hit)))


def _lines(best: ChosenSet, hit: Hit) -> tuple[str, ...]:
    component = hit.component
    large = hit.unit is not None and not hit.unit.servers and is_large(best.pool.candidates[component.id])
    alone = large and stands_alone(component.type, component.marketplace, component.body)
    return (alone_line(component.id),) if alone else component.install


def _dependencies(best: ChosenSet) -> tuple[Dependency, ...]:
    choices = best.case.choices
    needs = {chosen.key: choices.needs(chosen.key) for chosen in best.assembly.chosen}
    return dependencies(best.ranking.snapshot, needs)


def _version_conflicts(best: ChosenSet) -> list[str]:
    """Return a warning for each pair of members that require incompatible versions of a package."""
    known = best.case.choices.known
    members = sorted(chosen.key for chosen in best.assembly.chosen)
    return [
        f"{known[one].name} and {known[other].name} cannot share one {said}"
        for at, one in enumerate(members)
        for other in members[at + 1 :]
        if (said := known[one].version_conflicts.get(other, ""))
    ]


def _warnings(best: ChosenSet, items: Sequence[Item]) -> list[str]:
    known, assembly = best.case.choices.known, best.assembly
    budget = best.case.limits.budget
    found = [f"{item.hit.component.name} needs {lack}" for item in items for lack in item.lacking[:3]]
    found += [f"{item.hit.component.name}: {trouble}" for item in items for trouble in item.hit.troubles[:2]]
    found += _version_conflicts(best)
    found += [f"{known[key].name} exceeds the budget of {budget} tokens" for key in assembly.too_large[:3]]
    found += [
        f"{names_of(known[key] for key in circle)} need each other: neither can be the first"
        for circle in assembly.circles
    ]
    return found
