"""Reads from the log what each request accepted and what it refused: pure, decayed, the newest counting most.

*Accepted*: selected, and not known to have failed. *Refused*: selected and failed, or passed over, as far as somebody
looked at it where it stood. Passed over is what stood above something that was selected, and all that was offered where
something else was selected; what stood below tells nothing, since who has found what serves looks no further
(T. Joachims, *KDD* 2002, "click > skip above"). Where nothing was selected, nothing was needed: that tells nothing.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence

from repertoire.domain.experience import CONTRADICTION_DISCOUNT, Experience, Experiences
from repertoire.learning.outcomes import BAD, Trial


def experiences(found: Iterable[Trial], weight: Callable[[Trial], float]) -> Experiences:
    """Fold trials, oldest first, into how far each request accepted and refused each component."""
    asked: dict[tuple[str, str], list[Trial]] = defaultdict(list)
    for trial in found:
        if trial.request:
            asked[trial.session, trial.request].append(trial)
    made: dict[str, dict[str, Experience]] = defaultdict(dict)
    for (_, request), group in asked.items():
        for trial in _telling(group):
            before = made[request].get(trial.node, Experience())
            made[request][trial.node] = _after(before, trial, weight(trial))
    return made


def _telling(group: Sequence[Trial]) -> list[Trial]:
    """Return the trials of a request that tell whether they were wanted: none where nothing was selected."""
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
