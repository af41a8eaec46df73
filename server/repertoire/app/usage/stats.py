"""Computes statistics of use: rates of followed offers by rank and type, component usage, and its effect on ranking."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from repertoire.app.clock import now
from repertoire.app.usage.review import ReviewedSuggestion, review
from repertoire.app.usage.usage_cache import copies_among, known_trials
from repertoire.domain.confidence_intervals import Interval, wilson
from repertoire.domain.event import HELD, OUTCOMES
from repertoire.learning.hints import HintRate
from repertoire.learning.outcomes import INSTALLED, Trial, propensity
from repertoire.learning.trace_hints import KINDS, READ, trace_hints
from repertoire.learning.usage import ComponentUsage, Decay, Usage, summarize_usage
from repertoire.learning.usage_score import usage_scores
from repertoire.retrieval.priors import MOST
from repertoire.settings import Settings
from repertoire.store.database import Store
from repertoire.store.preferences import Mute

_BESIDE, _HELD = 5, 5_000  # co-selected components of each component; newest hints held back that are counted
_NEWEST = 200  # newest offers among which the share of first offers is counted


@dataclass(frozen=True)
class RankStats:
    """Counts of offers and selections at one rank, with the assumed probability that a user looks at this rank."""

    rank: int
    offered: int
    selected: int
    looked_at: float


@dataclass(frozen=True)
class ExplorationStats:
    """The number of newest offers, and how many of them were the first offer of their component."""

    offers: int = 0
    first: int = 0


NOTHING = ExplorationStats()


@dataclass(frozen=True)
class HintStats:
    """The rate of followed hints of one type and moment; `demand` is the factor on the odds that the next one needs."""

    rate: HintRate
    demand: float
    held_back: int  # times that such a hint was held back lately


@dataclass(frozen=True)
class ComponentStats:
    """The usage of one component, in the project and overall; `log_odds` is its prior in answers for the project."""

    id: str
    name: str
    here: ComponentUsage
    everywhere: ComponentUsage
    log_odds: float
    selected_with: Mapping[str, int]


@dataclass(frozen=True)
class Stats:
    """All statistics of use in one home."""

    project: str
    half_life_days: int
    offered: int
    selected: int
    followed: int  # selections that follow an offer
    installed: int  # selections that are installations of an offered component
    taken: Interval  # share of offers that were followed, with its 95 % confidence interval
    outcomes: Mapping[str, int]
    by_rank: tuple[RankStats, ...]
    hints: tuple[HintStats, ...]
    silenced: tuple[Mute, ...]
    components: tuple[ComponentStats, ...]
    more: int = 0
    requests: int = 0
    most_requests: int = 0
    explored: ExplorationStats = NOTHING
    edges: tuple[ReviewedSuggestion, ...] = ()


def stats(store: Store, settings: Settings, *, project: str, limit: int = 20) -> Stats:
    """Return the statistics of use, most selected components first; nothing is written."""
    found = known_trials(store)
    same = copies_among(store, found)
    here = [trial for trial in found if trial.project == project]
    clock = Decay(now(), settings.memory_days, project)
    everywhere, local = summarize_usage(found, clock, same=same), summarize_usage(here, clock, same=same)
    followed = sum(bool(trial.offered_at and trial.used) for trial in found)
    offered = sum(bool(trial.offered_at) for trial in found)
    judged = [trial for trial in found if trial.selected_at]
    selected = [trial for trial in judged if trial.used]
    learned = _learned(store, everywhere, local)
    return Stats(
        project=project,
        half_life_days=settings.memory_days,
        offered=offered,
        selected=len(selected),
        followed=followed,
        installed=sum(trial.how == INSTALLED for trial in selected),
        taken=wilson(followed, offered),
        outcomes={outcome: sum(trial.outcome == outcome for trial in judged) for outcome in OUTCOMES},
        by_rank=_by_rank(found),
        hints=tuple(_hinted(store, [*everywhere.hints, *_trace_rates(store, clock)])),
        silenced=tuple(store.preferences.mutes()),
        components=tuple(learned[:limit]),
        more=max(len(learned) - limit, 0),
        requests=store.requests.count(),
        most_requests=settings.max_requests,
        explored=_explored(found),
        edges=review(store),
    )


def _explored(found: Sequence[Trial]) -> ExplorationStats:
    seen: set[str] = set()
    first: list[bool] = []
    for trial in sorted((trial for trial in found if trial.offered_at), key=lambda trial: trial.offered_at):
        first.append(trial.node not in seen)
        seen.add(trial.node)
    newest = first[-_NEWEST:]
    return ExplorationStats(len(newest), sum(newest))


def _trace_rates(store: Store, clock: Decay) -> tuple[HintRate, ...]:
    return trace_hints(store.events.latest(KINDS, limit=READ), clock).rates


def _hinted(store: Store, rates: Sequence[HintRate]) -> Iterator[HintStats]:
    newest = store.events.latest((HELD,), limit=_HELD)
    held = Counter((event.data.get("where"), event.data.get("type")) for event in newest)
    for rate in rates:
        yield HintStats(rate, round(rate.demand, 2), held[rate.moment, rate.type])


def _by_rank(found: Sequence[Trial]) -> tuple[RankStats, ...]:
    ranks = sorted({trial.rank for trial in found if trial.offered_at})
    return tuple(
        RankStats(
            rank,
            sum(trial.rank == rank for trial in found if trial.offered_at),
            sum(trial.rank == rank for trial in found if trial.offered_at and trial.used),
            round(propensity(rank), 3),
        )
        for rank in ranks
    )


def _learned(store: Store, everywhere: Usage, local: Usage) -> list[ComponentStats]:
    leaning = usage_scores(everywhere)
    records = sorted(everywhere.records.values(), key=lambda one: (-one.selected, -one.recommended, one.node))
    return [
        ComponentStats(
            record.node,
            _name(store, record.node),
            local.records.get(record.node, ComponentUsage(record.node)),
            record,
            round(MOST * leaning[record.node], 3),
            {_name(store, node): times for node, times in list(record.selected_with.items())[:_BESIDE]},
        )
        for record in records
    ]


def _name(store: Store, key: str) -> str:
    entry = store.graph.by_key(key)
    return entry.component.name if entry is not None else key
