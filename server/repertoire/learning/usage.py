"""Sums up the usage of each component: its offers and selections, decayed with a half-life, with intervals and lift.

Position is corrected for by inverse propensity: what stands first is looked at first, so an offer at rank r counts as
1/r of a look (position-based model; the curve that click logs of ranked lists show, with exponent 1). Taken offers over
looks is then an estimate of how often it is taken by whoever looks at it, wherever it stood.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from repertoire.domain.confidence_intervals import ANY_SHARE, Interval, wilson
from repertoire.domain.experience import Experiences
from repertoire.learning.acceptance import experiences
from repertoire.learning.exact_copies import of_contents
from repertoire.learning.hints import HintRate, hint_rates, seen_of, weariness
from repertoire.learning.lift import NO_LIFT, Lift, lift_of
from repertoire.learning.outcomes import BAD, OK, Trial, moment, together

HALF_LIFE_DAYS = 90.0  # days, unless settings say otherwise
OTHER_PROJECT_WEIGHT = 0.5  # weight of a trial in another project


@dataclass(frozen=True)
class ComponentUsage:
    """The usage of one component. Counts are whole; looks, taken, alone, good and bad are decayed."""

    node: str
    recommended: int = 0
    selected: int = 0
    ok: int = 0
    failed: int = 0
    success: Interval = ANY_SHARE  # of those selections whose outcome is known
    selected_with: Mapping[str, int] = field(default_factory=dict)
    last_recommended: str = ""
    last_selected: str = ""
    looks: float = 0.0
    taken: float = 0.0
    alone: float = 0.0  # uses that no offer led to, and that did not fail
    good: float = 0.0
    bad: float = 0.0
    lift: Lift = NO_LIFT


@dataclass(frozen=True)
class Usage:
    """All usage: by component, by past request, and by kind of hint."""

    records: Mapping[str, ComponentUsage] = field(default_factory=dict)
    hints: tuple[HintRate, ...] = ()
    weary: Mapping[str, float] = field(default_factory=dict)  # by component, see hints.weariness
    experiences: Experiences = field(default_factory=dict)
    same: Mapping[str, str] = field(default_factory=dict)  # exact copies, by the one whose record is that of all

    @property
    def rate(self) -> float:
        """How often an offer is taken by whoever looks at it, over all components; 0 where none was offered."""
        looks = sum(record.looks for record in self.records.values())
        return min(sum(record.taken for record in self.records.values()) / looks, 1.0) if looks else 0.0

    def of(self, node: str) -> ComponentUsage | None:
        """Return the usage of a component and its exact copies; None where there is none."""
        return self.records.get(self.same.get(node, node))

    def of_each(self, values: Mapping[str, float]) -> dict[str, float]:
        """Return the values, with those of a stand-in given to its exact copies too."""
        return {**values, **{copy: values[node] for copy, node in self.same.items() if node in values}}


@dataclass(frozen=True)
class Decay:
    """How trials decay: as of `now`, by a half-life; `project` is where they count in full (empty: everywhere)."""

    now: str
    half_life: float = HALF_LIFE_DAYS
    project: str = ""

    def weight(self, trial: Trial) -> float:
        """Return the weight of a trial after decay."""
        if self.half_life <= 0:
            return 0.0
        # In whole days: what happened on one day counts alike, so that an old day can be kept as a count.
        days = max((moment(self.now).date() - moment(trial.at).date()).days, 0)  # a clock put back does not amplify
        here = not self.project or trial.project == self.project
        return float(0.5 ** (days / self.half_life)) * (1.0 if here else OTHER_PROJECT_WEIGHT)


def summarize_usage(found: Iterable[Trial], clock: Decay, *, same: Mapping[str, str] | None = None) -> Usage:
    """Count trials into usage; `same` maps an exact copy to the one that stands for all of them."""
    same = same or {}
    every = list(found)
    known = experiences(every, clock.weight)
    of_node: dict[str, list[Trial]] = defaultdict(list)
    found = of_contents(every, same)
    for trial in found:
        of_node[trial.node].append(trial)
    beside: dict[str, dict[str, int]] = defaultdict(lambda: defaultdict(int))
    for group in together(found):
        for one in group:
            for other in group:
                if other is not one:
                    beside[one.node][other.node] += 1
    records = {node: _record(node, own, clock, beside.get(node, {})) for node, own in of_node.items()}
    weary = weariness(seen_of(found, clock.weight))
    return Usage(records, hint_rates(found, clock.weight), weary, known, same)


def _record(node: str, own: list[Trial], clock: Decay, beside: Mapping[str, int]) -> ComponentUsage:
    offered = [trial for trial in own if trial.offered_at]
    selected = [trial for trial in own if trial.selected_at]
    good = [trial for trial in selected if trial.outcome == OK]
    bad = [trial for trial in selected if trial.outcome == BAD]
    return ComponentUsage(
        node,
        len(offered),
        len(selected),
        len(good),
        len(bad),
        wilson(len(good), len(good) + len(bad)),
        dict(sorted(beside.items(), key=lambda item: (-item[1], item[0]))),
        max((trial.offered_at for trial in offered), default=""),
        max((trial.selected_at for trial in selected), default=""),
        looks=sum(clock.weight(trial) * trial.look for trial in offered),
        taken=sum(clock.weight(trial) for trial in offered if trial.selected_at and trial.outcome != BAD),
        alone=sum(clock.weight(trial) for trial in selected if not trial.offered_at and trial.outcome != BAD),
        good=sum(map(clock.weight, good)),
        bad=sum(map(clock.weight, bad)),
        lift=lift_of(own, clock.weight),
    )
