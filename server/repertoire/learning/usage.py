"""Sums up the usage of each component: offers and selections with exponential decay, intervals, outcomes and lift.

Position bias is corrected by inverse propensity: an offer at rank r counts as 1/r of an impression (position-based
model, as click logs of ranked lists show, with exponent 1). Taken offers divided by impressions then estimate how often
somebody who looks at the component takes it, whatever its rank was. A recommended set is an impression of those of its
components that were used: who reads the answer to a question, however often, refuses nothing.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from repertoire.domain.confidence_intervals import ANY_SHARE, Interval, wilson
from repertoire.domain.event import BAD, OK
from repertoire.domain.experience import Experiences
from repertoire.learning.acceptance import experiences
from repertoire.learning.exact_copies import merge_copies
from repertoire.learning.hints import PATIENCE, RARE, HintRate, hint_counts_by_component, hint_rates, weariness
from repertoire.learning.lift import NO_LIFT, Lift, lift_of
from repertoire.learning.outcomes import SAID, SET, Trial, moment, together

HALF_LIFE_DAYS = 90.0  # default half-life of a trial's weight
OTHER_PROJECT_WEIGHT = 0.5  # factor on the weight of a trial in another project


@dataclass(frozen=True)
class ComponentUsage:
    """The usage of one component: undecayed counts; looks and what follows are decayed."""

    node: str
    recommended: int = 0
    selected: int = 0
    ok: int = 0
    failed: int = 0
    success: Interval = ANY_SHARE  # share of successes among selections of known outcome
    selected_with: Mapping[str, int] = field(default_factory=dict)
    last_recommended: str = ""
    last_selected: str = ""
    looks: float = 0.0
    taken: float = 0.0
    alone: float = 0.0  # uses without an offer that did not fail
    good: float = 0.0
    bad: float = 0.0
    refused: float = 0.0  # 0 to 1: how much more often a person said that it failed than that it worked
    lift: Lift = NO_LIFT


@dataclass(frozen=True)
class Usage:
    """All usage: by component, by past request and by kind of hint."""

    records: Mapping[str, ComponentUsage] = field(default_factory=dict)
    hints: tuple[HintRate, ...] = ()
    weary: Mapping[str, float] = field(default_factory=dict)  # factor on a hint's odds by component: hints.weariness
    experiences: Experiences = field(default_factory=dict)
    same: Mapping[str, str] = field(default_factory=dict)  # representative of each exact copy, which has the record

    @property
    def rate(self) -> float:
        """The share of impressions after which the component was used, over all; 0 if there is no such impression.

        It starts from the rate and the weight that hints start from, for a set adds no impression that was not taken.
        """
        looks = sum(record.looks for record in self.records.values())
        taken = sum(record.taken for record in self.records.values())
        return min((taken + RARE * PATIENCE) / (looks + PATIENCE), 1.0) if taken else 0.0

    def of(self, node: str) -> ComponentUsage | None:
        """Return the usage of a component and its exact copies; None if there is none."""
        return self.records.get(self.same.get(node, node))

    def of_each(self, values: Mapping[str, float]) -> dict[str, float]:
        """Return the values by component, with each representative's value for its exact copies too."""
        return {**values, **{copy: values[node] for copy, node in self.same.items() if node in values}}


@dataclass(frozen=True)
class Decay:
    """The decay of trials as of `now`, by a half-life in days; trials outside `project` (if given) weigh less."""

    now: str
    half_life: float = HALF_LIFE_DAYS
    project: str = ""

    def weight(self, trial: Trial) -> float:
        """Return the weight of a trial after decay."""
        if self.half_life <= 0:
            return 0.0
        # In whole days, so that all trials of a day have one weight and can be compacted into counts.
        days = max((moment(self.now).date() - moment(trial.at).date()).days, 0)  # a clock set back does not amplify
        here = not self.project or trial.project == self.project
        return float(0.5 ** (days / self.half_life)) * (1.0 if here else OTHER_PROJECT_WEIGHT)


def summarize_usage(found: Iterable[Trial], clock: Decay, *, same: Mapping[str, str] | None = None) -> Usage:
    """Return the usage of all components from trials; `same` maps each exact copy to its representative."""
    same = same or {}
    every = list(found)
    known = experiences(every, clock.weight)
    of_node: dict[str, list[Trial]] = defaultdict(list)
    found = merge_copies(every, same)
    for trial in found:
        of_node[trial.node].append(trial)
    beside: dict[str, dict[str, int]] = defaultdict(lambda: defaultdict(int))
    for group in together(found):
        for selected in group:
            for other in group:
                if other is not selected:
                    beside[selected.node][other.node] += 1
    records = {node: _record(node, own, clock, beside.get(node, {})) for node, own in of_node.items()}
    weary = weariness(hint_counts_by_component(found, clock.weight))
    return Usage(records, hint_rates(found, clock.weight), weary, known, same)


def _record(node: str, own: list[Trial], clock: Decay, beside: Mapping[str, int]) -> ComponentUsage:
    offered = [trial for trial in own if trial.offered_at]
    selected = [trial for trial in own if trial.selected_at]
    good = [trial for trial in selected if trial.outcome == OK]
    bad = [trial for trial in selected if trial.outcome == BAD]
    # An outcome of a use that nobody saw is no use, unless it is a good one.
    alone = [t for t in selected if not t.offered_at and (t.outcome == OK or (t.used and t.outcome != BAD))]
    said = [trial for trial in selected if trial.because == SAID]
    refused = sum(clock.weight(trial) * {BAD: 1.0, OK: -1.0}.get(trial.outcome, 0.0) for trial in said)
    return ComponentUsage(
        node,
        len(offered),
        sum(trial.used for trial in selected),
        len(good),
        len(bad),
        wilson(len(good), len(good) + len(bad)),
        dict(sorted(beside.items(), key=lambda item: (-item[1], item[0]))),
        max((trial.offered_at for trial in offered), default=""),
        max((trial.selected_at for trial in selected if trial.used), default=""),
        looks=sum(clock.weight(trial) * trial.look for trial in offered if trial.selected_at or trial.moment != SET),
        taken=sum(clock.weight(trial) for trial in offered if trial.selected_at and trial.outcome != BAD),
        alone=sum(map(clock.weight, alone)),
        good=sum(map(clock.weight, good)),
        bad=sum(map(clock.weight, bad)),
        refused=min(max(refused, 0.0), 1.0),
        lift=lift_of(own, clock.weight),
    )
