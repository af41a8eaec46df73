"""Decides which hints a session is shown at a moment: components, traces and failed commands share one token budget.

Every system hands in candidates with the probability that each helps. A candidate is shown if its odds reach those of
`HINT_THRESHOLD` times the factor by which ignored hints raise them (see `hints`), whatever its kind; if the session was
not shown it before; and if it fits into the budget of the moment. One trace is shown beside components, three alone.
Hints of components are rare by themselves, so they count in the session's budget and are never held back by it.

The session hook runs this with any Python from 3.9.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from repertoire.learning.hints import BEFORE_COMMAND, FAILURE, PROMPT, SESSION_START, is_exploration

TRACE, FAILED_COMMAND = "trace", "failed_command"  # kinds of candidates that are no type of a component
# A hint needs at least this probability that it helps. Over the components of one plugin, 3.5 % of MetaTool's train
# prompts reach it, and 87 % of the prompts that the plugin serves.
HINT_THRESHOLD = 0.3
MOMENT_TOKENS = {SESSION_START: 625, PROMPT: 375, FAILURE: 375, BEFORE_COMMAND: 100}
SESSION_TOKENS = 6_000  # about sixteen full hints
COMPONENT_TOKENS = 80  # what one component of an earlier hint counts: a usual line
_TRACES, _TRACES_BESIDE_COMPONENTS = 3, 1
_CERTAIN = 1e-6
SHOWN_BEFORE, RARELY_TAKEN = "shown before", "such hints are rarely taken"
NO_BUDGET, ENOUGH_TRACES = "no budget left", "enough traces were named"


@dataclass(frozen=True)
class Candidate:
    """One line that a hint may hold; `kind` is a component's type, TRACE or FAILED_COMMAND."""

    key: str
    kind: str
    chance: float  # probability that it helps
    tokens: int

    @property
    def is_component(self) -> bool:
        """Tell whether it is a component."""
        return self.kind not in (TRACE, FAILED_COMMAND)


@dataclass(frozen=True)
class Occasion:
    """A moment of a session: what it was shown, what its hints cost so far, and which hints are rarely taken."""

    moment: str
    name: str  # tells occasions apart; on one in hints.FLOOR rarely taken hints need only the usual odds
    seen: frozenset[str] = frozenset()
    spent: int = 0  # tokens of the session's earlier hints
    demands: Mapping[str, float] = field(default_factory=dict)  # by kind: factor on the odds that a hint needs
    weary: Mapping[str, float] = field(default_factory=dict)  # by key: the same factor

    def demand(self, kind: str, key: str) -> float:
        """Return the factor by which a candidate's odds must exceed the usual ones at this moment."""
        if not (self.demands or self.weary) or is_exploration(self.name):
            return 1.0
        return max(self.demands.get(kind, 1.0), self.weary.get(key, 1.0))

    def too_rarely_taken(self, chance: float) -> frozenset[str]:
        """Return the kinds and keys whose hints need higher odds here than this probability has."""
        if not (self.demands or self.weary) or is_exploration(self.name):
            return frozenset()
        times = odds_of(chance) / odds_of(HINT_THRESHOLD)
        return frozenset(one for one, demand in {**self.demands, **self.weary}.items() if times < demand)


@dataclass(frozen=True)
class Decision:
    """The keys to show, the most probable first, and the reason for each that is held back."""

    shown: tuple[str, ...] = ()
    held: Mapping[str, str] = field(default_factory=dict)


def arbitrate(candidates: Iterable[Candidate], occasion: Occasion) -> Decision:
    """Choose the candidates to show at a moment: those that most probably help, within the budget."""
    shown: list[Candidate] = []
    held: dict[str, str] = {}
    ranked = sorted(candidates, key=lambda one: -one.chance)  # stable: of equals the first
    refusals = {one.key: _refusal(one, occasion) for one in ranked}
    beside = any(one.is_component and not refusals[one.key] for one in ranked)
    traces = _TRACES_BESIDE_COMPONENTS if beside else _TRACES
    left = MOMENT_TOKENS[occasion.moment]
    for one in ranked:
        reason = refusals[one.key]
        if not reason and one.kind == TRACE and sum(other.kind == TRACE for other in shown) == traces:
            reason = ENOUGH_TRACES
        spent = occasion.spent + MOMENT_TOKENS[occasion.moment] - left
        if not reason and (one.tokens > left or not (one.is_component or spent + one.tokens <= SESSION_TOKENS)):
            reason = NO_BUDGET
        if reason:
            held[one.key] = reason
        else:
            shown.append(one)
            left -= one.tokens
    return Decision(tuple(one.key for one in shown), held)


def _refusal(one: Candidate, occasion: Occasion) -> str:
    if one.key in occasion.seen:
        return SHOWN_BEFORE
    demand = occasion.demand(one.kind, one.key)
    usual = odds_of(HINT_THRESHOLD) * (1 - _CERTAIN)
    return RARELY_TAKEN if odds_of(one.chance) < demand * usual else ""


def odds_of(share: float) -> float:
    """Return the odds of a probability."""
    return share / max(1.0 - share, _CERTAIN)
