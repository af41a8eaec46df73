"""Computes from trials how far each request accepted and refused each component, with decay.

*Accepted*: selected, and not known to have failed. *Refused*: selected and failed, or passed over, weighted by the
position bias of its rank. Passed over are components ranked above a selected one, and all that were offered if a
component outside the offer was selected. Ranks below the selection tell nothing, because whoever found a component
looks no further (T. Joachims, *KDD* 2002, "click > skip above"). A request without a selection tells nothing either.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence

from repertoire.domain.event import BAD
from repertoire.domain.experience import CONTRADICTION_DISCOUNT, Experience, Experiences
from repertoire.learning.outcomes import Trial


def experiences(found: Iterable[Trial], weight: Callable[[Trial], float]) -> Experiences:
    """Return the experience of each request with each component, from trials in order of time."""
    asked: dict[tuple[str, str], list[Trial]] = defaultdict(list)
    for trial in found:
        if trial.request:
            asked[trial.session, trial.request].append(trial)
    made: dict[str, dict[str, Experience]] = defaultdict(dict)
    for (_, request), group in asked.items():
        for trial in _judged(group):
            before = made[request].get(trial.node, Experience())
            made[request][trial.node] = _after(before, trial, weight(trial))
    return made


def _judged(group: Sequence[Trial]) -> list[Trial]:
    """Return the selected trials and those passed over, which count as accepted and refused; none if none is selected.

    Passed over is what ranked above a selected one; everything offered, if a component outside the offer was selected.
    """
    selected = [trial for trial in group if trial.selected_at]
    unaided = any(not trial.rank for trial in selected)
    lowest = max((trial.rank for trial in selected), default=0)
    return [trial for trial in group if trial.selected_at or unaided or trial.rank < lowest]


def _after(before: Experience, trial: Trial, counts: float) -> Experience:
    times = before.selected + bool(trial.selected_at)
    if trial.selected_at and trial.outcome != BAD:
        return Experience(times, before.accepted + counts, before.refused * CONTRADICTION_DISCOUNT)
    seen = 1.0 if trial.selected_at else trial.look
    return Experience(times, before.accepted * CONTRADICTION_DISCOUNT**seen, before.refused + seen * counts)
