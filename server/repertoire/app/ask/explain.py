"""Explains one component: its description, requirements, relations, use and freshness, and its rank for a task."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from repertoire.app.ask.chosen_set import rank_for_set
from repertoire.app.ask.recommend import verdict
from repertoire.app.ask.set_candidates import machine_check
from repertoire.app.clock import today
from repertoire.app.lookup import find_components, suggested_last
from repertoire.app.sources.freshness import FreshnessJudge
from repertoire.app.sources.soundness import Troubles
from repertoire.app.sources.unreachable import LostSource, lost_sources
from repertoire.domain.answer import Hit, Item, Other, Query, StageReport, Task, Unit
from repertoire.domain.component import (
    ALTERNATIVE_TO,
    CO_OCCURS_WITH,
    CONFLICTS_WITH,
    CURATOR,
    DEPENDS_ON,
    MENTIONS,
    PART_OF,
    PROVIDES,
    REQUEST,
    REQUIREMENT,
    SELECTED,
    TWIN_OF,
    Component,
    not_installable,
)
from repertoire.domain.event import COUNTED, FAILED, OFFERED, TAKEN_BACK
from repertoire.domain.event import SELECTED as SELECTED_EVENT
from repertoire.domain.freshness import Ageing, Freshness, freshness
from repertoire.domain.invocation import REFUSED
from repertoire.domain.soundness import LACKING, Trouble, soundness
from repertoire.domain.trace import RatedTrace
from repertoire.domain.trust import RECOMMENDABLE
from repertoire.ingestion.difference import difference, difference_text
from repertoire.ingestion.twins import SAME_CONTENT
from repertoire.learning.lift import NO_LIFT, Lift
from repertoire.learning.outcomes import CALL_FAILED, INSTALLED, standing, trials_of_count
from repertoire.learning.usage import ComponentUsage, Usage
from repertoire.ports import Link, StoredComponent
from repertoire.retrieval.filters import silenced_rows
from repertoire.retrieval.neighbourhood import Neighbourhood, neighbourhood
from repertoire.retrieval.pipeline import Pipeline
from repertoire.retrieval.plan import SEARCH
from repertoire.retrieval.ranking import Ranking
from repertoire.retrieval.snapshot import Snapshot
from repertoire.sources.plugin_diff import InstalledCopy, compare
from repertoire.sources.policy import policy
from repertoire.sources.requirement_checks import RequirementCheck
from repertoire.store.database import Store

_GOES_WITH = (CO_OCCURS_WITH, PART_OF, MENTIONS, ALTERNATIVE_TO)
_COMPANIONS, _TWINS = 8, 3
_LINKS = 100_000  # more than any component has: all are counted, few are told
NOTHING = Usage()
_MUTED, _WITHHELD = "muted", "withheld: static checks found a critical flag that you have not accepted"
_SHADOWED = "Claude Code starts another one that is installed under the same name"
_FIRST, _ASIDE = 5, 0.05  # the graph walk also starts at so many hits of the task, with this weight (component: 1)


@dataclass(frozen=True)
class RankForTask:
    """The rank of a component for a task, 0 if it is not ranked; `first` holds the three best components."""

    task: str
    rank: int
    hit: Hit | None
    first: tuple[Component, ...]
    fits: bool
    confidence: float
    report: tuple[StageReport, ...] = ()
    verdict: Item | Other | None = None  # its item in the recommended set, or the reason why it is left out


@dataclass(frozen=True)
class UseHistory:
    """How often a component was offered, used, installed and failed here, and how its uses went where known."""

    offered: int = 0
    used: int = 0
    installed: int = 0  # installations, which are selections too
    failed: int = 0  # failed calls
    last_used: str = ""
    went_well: int = 0
    went_wrong: int = 0


@dataclass(frozen=True)
class Twin:
    """A near copy of a component in another source, with the evidence, and the differences between the two texts."""

    id: str
    installed: bool
    evidence: str
    difference: str


@dataclass(frozen=True)
class Explanation:
    """Everything that the store knows of one component."""

    stored: StoredComponent
    provides: tuple[Link, ...] = ()
    needs: tuple[Link, ...] = ()
    needed_by: tuple[Link, ...] = ()
    goes_with: tuple[Link, ...] = ()
    companions: tuple[Other, ...] = ()  # components that known combinations hold beside it, and in which
    conflicts: tuple[Link, ...] = ()
    twins: tuple[Twin, ...] = ()  # the first near copies in other sources
    more_twins: int = 0  # near copies beyond those
    namesakes: tuple[str, ...] = ()  # ids of other components with the same name
    selections: int = 0
    muted: bool = False
    refused: str = ""  # why settings deny it to the model in the project, turn it off or forbid it
    warning: str = ""
    standing: RankForTask | None = None
    conditions: Mapping[str, RequirementCheck] = field(default_factory=dict)  # its requirements, by name
    history: UseHistory = UseHistory()
    lift: Lift = NO_LIFT  # success of requests that used it, against requests for which it was only offered
    graph: Neighbourhood | None = None
    freshness: Freshness | None = None
    copy: InstalledCopy | None = None  # its installed plugin, compared with the marketplace
    lost: LostSource | None = None  # set if the last try to read its source failed
    troubles: tuple[Trouble, ...] = ()  # reasons against it that lie outside its own text
    traces: tuple[RatedTrace, ...] = ()  # what was solved with it
    unit: Unit | None = None  # the plugin that its install line brings as a whole


@dataclass(frozen=True)
class ExplainRequest:
    """A request for an explanation: the component, a task to rank it for, the machine to check, and optional parts."""

    component: str
    task: str = ""
    project: str = ""
    environment: Mapping[str, str] | None = None
    graph: bool = False  # include the part of the graph around it
    home: Path | None = None  # the home with its source's clone; None: the source's releases are not read
    ageing: Ageing | None = None
    refused: frozenset[str] = frozenset()  # ids of what settings deny to the model in the project, turn off or forbid


@dataclass(frozen=True)
class _Barred:
    """The ids that no set may hold, and the reason if the explained component is one of them, else an empty text."""

    ids: frozenset[str]
    why: str
    muted: frozenset[str]  # the muted ids among them, which are not named as better ones either


def explain(
    store: Store,
    pipeline: Pipeline,
    asked: ExplainRequest,
    *,
    muted: frozenset[str] = frozenset(),
    unfit: frozenset[str] = frozenset(),
    usage: Usage = NOTHING,
) -> Explanation:
    """Explain the component with an id or name, the first that a search lists; no set may hold the `unfit` ids.

    `usage` is the usage of components that the log shows.

    Raises:
        UnknownComponent: no component has this id or name; the message suggests similar names.
    """
    entries = _as_found(store, pipeline, asked)
    stored, snapshot = entries[0], pipeline.snapshot()
    component = stored.component
    links = store.graph.links(component.id, limit=_LINKS)
    needs = _outgoing(links, DEPENDS_ON)
    conditions = _conditions(store, asked, needs)
    troubles = (
        *Troubles(store, asked.ageing, unwanted=lambda: muted).of(component.id),
        *(Trouble(LACKING, f"it requires {one.text}") for one in conditions.values() if one.met is False),
    )
    silenced = _is_muted(stored, muted)
    kept = _refusal(asked, component)
    told = _MUTED if silenced else kept or (_why_unfit(store, component) if component.id in unfit else "")
    barred = _Barred(unfit | muted, told, muted)
    used = usage.of(component.id) or ComponentUsage(component.id)
    copies = _copies(snapshot, component.id, usage)
    ranking, standing = _rank_for_task(pipeline, asked, component, barred) if asked.task else (None, None)
    return Explanation(
        stored=stored,
        provides=_provided(store, component.id, links),
        needs=needs,
        needed_by=tuple(link for link in links if link.relation == DEPENDS_ON and not link.outgoing),
        goes_with=_goes_with(store, links, muted),
        companions=_companions(store, pipeline, component, muted),
        conflicts=_distinct([link for link in links if link.relation == CONFLICTS_WITH]),
        twins=_twins(store, component, links),
        more_twins=max(0, sum(link.relation == TWIN_OF for link in links) - _TWINS),
        namesakes=tuple(entry.component.id for entry in entries[1:]),
        selections=_chosen(store, copies),
        muted=silenced,
        refused=kept,
        standing=standing,
        conditions=conditions,
        history=_history(store, copies, used),
        lift=used.lift,
        graph=_graph(snapshot, component, ranking) if asked.graph else None,
        freshness=_freshness(store, asked, stored, soundness(troubles)),
        copy=_copy_of(asked, component),
        lost=next((lost for lost in lost_sources(store) if lost.source == stored.source), None),
        troubles=troubles,
        unit=_unit(snapshot, component),
    )


def _as_found(store: Store, pipeline: Pipeline, asked: ExplainRequest) -> list[StoredComponent]:
    """Return components of one name as a search for it lists them, but installed ones first, then the suggested one.

    Where only one may be the first, nothing is ranked for the others: they are only named.
    """

    def standing(entry: StoredComponent) -> tuple[bool, bool]:
        return bool(entry.component.client), not entry.component.installed

    entries = sorted(find_components(store, asked.component, project=asked.project), key=standing)
    if len(entries) == 1 or standing(entries[0]) != standing(entries[1]):
        return entries
    last = suggested_last(store, [entry for entry in entries if standing(entry) == standing(entries[0])])
    ranking = pipeline.rank(Query(asked.component, project=asked.project), intent=SEARCH)
    place = {ranking.snapshot.summaries[row].id: place for place, row in enumerate(ranking.rows.tolist())}

    return sorted(
        entries, key=lambda entry: (standing(entry), entry is not last, place.get(entry.component.id, len(place)))
    )


def _refusal(asked: ExplainRequest, component: Component) -> str:
    if component.id not in asked.refused:
        return ""
    allowed = None if asked.environment is None else policy(asked.environment, Path(asked.project))
    return (allowed(component) if allowed else "") or REFUSED


def _why_unfit(store: Store, component: Component) -> str:
    if component.client:
        return f"{component.client} reads it, Claude Code does not"
    never = not_installable(component)
    if never:
        return f"it cannot be installed as it is: {never}"
    return _WITHHELD if component.id in store.flags.withheld(RECOMMENDABLE) else _SHADOWED


def _unit(snapshot: Snapshot, component: Component) -> Unit | None:
    row = snapshot.row_of(component.id)
    return snapshot.unit_of(row) if row >= 0 else None


def _freshness(store: Store, asked: ExplainRequest, stored: StoredComponent, sound: float) -> Freshness | None:
    component, changed = stored.component, _changed(store, stored.component)
    if asked.home is None:
        return freshness(component.type, changed, today(), ageing=asked.ageing, sound=sound)
    judge = FreshnessJudge(store, asked.home, asked.ageing, today())
    return judge.of(component.id, component.type, stored.source, changed, sound=sound)


def _changed(store: Store, component: Component) -> str:
    """Return the date of the last known change among a component and its exact copies."""
    copies = (store.graph.by_key(key) for group in store.graph.copies([component.id]) for key in group)
    return max((one.component.last_commit for one in copies if one is not None), default=component.last_commit)


def _copy_of(asked: ExplainRequest, component: Component) -> InstalledCopy | None:
    if asked.environment is None or not component.installed or not component.marketplace:
        return None
    return next(iter(compare(asked.environment, only=f"{component.plugin}@{component.marketplace}")), None)


def _twins(store: Store, component: Component, links: Sequence[Link]) -> tuple[Twin, ...]:
    """Return the near copies with their differences, different texts before identical ones."""
    near = sorted((link for link in links if link.relation == TWIN_OF), key=lambda link: link.evidence == SAME_CONTENT)
    found = []
    for link in near[:_TWINS]:
        stored = store.graph.by_key(link.other)
        if stored is not None:
            other = stored.component
            told = difference((component.description, component.body), (other.description, other.body))
            found.append(Twin(other.id, other.installed, link.evidence, difference_text(told)))
    return tuple(found)


def _goes_with(store: Store, links: Sequence[Link], muted: frozenset[str]) -> tuple[Link, ...]:
    """Return a component's related components that are not muted: first its plugin, then the others."""
    known = [link for link in links if link.relation in _GOES_WITH and link.other_name]
    found = _distinct(sorted(known, key=lambda link: not (link.relation == PART_OF and link.outgoing)))
    if muted:
        others = ((link, store.graph.by_key(link.other)) for link in found)
        found = tuple(link for link, stored in others if stored is None or not _is_muted(stored, muted))
    return found


def _is_muted(stored: StoredComponent, muted: frozenset[str]) -> bool:
    return not muted.isdisjoint((stored.component.id, stored.source, stored.component.repository))


def _provided(store: Store, component: str, links: Sequence[Link]) -> tuple[Link, ...]:
    """Return a component's capabilities; a curator's list replaces those that ingestion found."""
    provided = _outgoing(links, PROVIDES)
    if component not in store.preferences.corrections():
        return provided
    return tuple(link for link in provided if link.evidence == CURATOR)


def _outgoing(links: Sequence[Link], relation: str) -> tuple[Link, ...]:
    return _distinct([link for link in links if link.relation == relation and link.outgoing])


def _distinct(links: Sequence[Link]) -> tuple[Link, ...]:
    return tuple({link.other: link for link in reversed(links)}.values())[::-1]


def _rank_for_task(
    pipeline: Pipeline, asked: ExplainRequest, component: Component, barred: _Barred
) -> tuple[Ranking, RankForTask]:
    """Rank all components for the task once; return the ranking and the component's rank."""
    told: Item | Other | None = Other(component, barred.why)
    task = Task(asked.task, project=asked.project)
    if barred.why:  # a component that no set may hold still has a rank
        ranking = rank_for_set(pipeline, task)
    else:
        ranking, told = verdict(
            pipeline, task, component, muted=barred.ids, refused=asked.refused, environment=asked.environment
        )
    shown = ranking.rows[~silenced_rows(ranking.snapshot, barred.muted)[ranking.rows]]
    ids = [ranking.snapshot.summaries[row].id for row in ranking.rows.tolist()]
    rank = ids.index(component.id) + 1 if component.id in ids else 0
    hit = pipeline.hits(ranking, ranking.rows[rank - 1 : rank])[0] if rank else None
    first = tuple(found.component for found in pipeline.hits(ranking, shown[:3]))
    return ranking, RankForTask(asked.task, rank, hit, first, ranking.fits, ranking.confidence, ranking.report, told)


def _conditions(store: Store, asked: ExplainRequest, needs: Sequence[Link]) -> dict[str, RequirementCheck]:
    if asked.environment is None:
        return {}
    names = [link.other_name for link in needs if link.other_type == REQUIREMENT]
    if not names:
        return {}
    check = machine_check(store.graph.summaries(), asked.environment, asked.project, asked.refused)
    return {name: check(name) for name in names}


def _copies(snapshot: Snapshot, component: str, usage: Usage) -> list[str]:
    """Return the id of a component and those of its exact copies, also of removed ones that were used."""
    row = snapshot.row_of(component)
    copies = [snapshot.summaries[copy].id for copy in snapshot.copies.of(row)] if row >= 0 else []
    used = usage.same.get(component)
    return list(dict.fromkeys((component, *copies, *(copy for copy, one in usage.same.items() if one == used))))


def _chosen(store: Store, copies: Sequence[str]) -> int:
    """Count the past requests for which one of these was selected."""
    links = (link for one in copies for link in store.graph.links(one, limit=_LINKS))
    return len({link.other for link in links if link.relation == SELECTED and link.other_type == REQUEST})


def _history(store: Store, copies: Sequence[str], record: ComponentUsage) -> UseHistory:
    told = (OFFERED, SELECTED_EVENT, TAKEN_BACK, FAILED, COUNTED)
    events = standing(event for one in copies for event in store.events.of_node(one, kinds=told))
    kinds = [event.kind for event in events]
    counts = (event for event in events if event.kind == COUNTED)
    counted = [trial for one in counts for trial in trials_of_count(one.node, one.project, one.data)]
    chosen = [(event.at, event.data.get("how")) for event in events if event.kind == SELECTED_EVENT]
    chosen += [(trial.selected_at, trial.how) for trial in counted if trial.selected_at]
    used = [at for at, how in chosen if how != INSTALLED]
    installed = len(chosen) - len(used)
    offered = kinds.count(OFFERED) + sum(bool(trial.offered_at) for trial in counted)
    failed = kinds.count(FAILED) + sum(trial.because == CALL_FAILED for trial in counted)
    return UseHistory(offered, len(used), installed, failed, max(used, default=""), record.ok, record.failed)


def _companions(store: Store, pipeline: Pipeline, component: Component, muted: frozenset[str]) -> tuple[Other, ...]:
    snapshot = pipeline.snapshot()
    row = snapshot.row_of(component.id)
    if row < 0:
        return ()
    patterns = pipeline.combinations(snapshot)
    found = patterns.companions([row], among=~silenced_rows(snapshot, muted), limit=_COMPANIONS)
    entries = ((store.graph.by_key(snapshot.summaries[one.row].id), one) for one in found)
    return tuple(Other(entry.component, patterns.sentence(one.known, one.beside)) for entry, one in entries if entry)


def _graph(snapshot: Snapshot, component: Component, ranking: Ranking | None) -> Neighbourhood:
    """Return the part of the graph around the component and, given a ranking, around its first components."""
    if ranking is not None:
        snapshot = ranking.snapshot
    start = {snapshot.position_of[component.id]: 1.0} if component.id in snapshot.position_of else {}
    for row in ranking.rows[:_FIRST].tolist() if ranking is not None else ():
        start.setdefault(int(snapshot.positions[row]), _ASIDE)
    return neighbourhood(snapshot, start)
