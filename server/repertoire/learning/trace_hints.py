"""Folds the log's events on shown traces and failed commands into trials, so that `hints` computes their rarity too.

*Shown*: a hint held the trace, or a line of fact on a failed command. *Taken*: the trace was read after it, or the
failing check passed; or something was changed after it was said that the command failed with nothing changed since.
The session hook runs this with any Python from 3.9.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace

from repertoire.domain.event import SHOWN, TAKEN
from repertoire.learning.arbiter import TRACE
from repertoire.learning.hints import FAILURE, HintRate, demands, hint_counts_by_component, hint_rates, weariness
from repertoire.learning.outcomes import Dated, Trial
from repertoire.learning.usage import Decay

KINDS = (SHOWN, TAKEN)
READ = 2_000  # newest events of these kinds that are folded


@dataclass(frozen=True)
class TraceHints:
    """How often hints of traces and failed commands are taken: by kind, and the factor on the odds of each key."""

    rates: tuple[HintRate, ...] = ()
    weary: Mapping[str, float] = field(default_factory=dict)

    def demands(self, moment: str) -> Mapping[str, float]:
        """Return by kind the factor on the odds of hints at a moment, without factors of 1."""
        return demands(self.rates, moment)


def trace_trials(events: Iterable[Dated]) -> list[Trial]:
    """Return one trial for each shown trace or failed command, from events with the oldest first."""
    found: list[Trial] = []
    newest: dict[tuple[str, str], int] = {}
    for event in events:
        place = newest.get((event.session, event.node))
        if event.kind == SHOWN and event.node:
            newest[event.session, event.node] = len(found)
            found.append(_trial(event))
        elif event.kind == TAKEN and place is not None and not found[place].selected_at:
            found[place] = replace(found[place], selected_at=event.at)
    return found


def trace_hints(events: Iterable[Dated], clock: Decay) -> TraceHints:
    """Return how often hints are taken, from events with the oldest first."""
    found = trace_trials(events)
    return TraceHints(hint_rates(found, clock.weight), weariness(hint_counts_by_component(found, clock.weight)))


def _trial(event: Dated) -> Trial:
    told = event.data
    return Trial(
        event.node,
        event.project,
        event.session,
        offered_at=event.at,
        rank=int(told.get("rank", 1)),
        moment=str(told.get("where", FAILURE)),
        type=str(told.get("type", TRACE)),
    )
