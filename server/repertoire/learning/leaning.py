"""Turns what is remembered of components into a leaning for each, from -1 to 1; 0 where nothing is known.

Two parts, each bounded, none of them about a question: how often those who look at it take it to the good, against the
usual; and what came of it. What has no history is never changed. Hints see to it that the unseen is seen
(app/session/offer.py).
"""

from __future__ import annotations

import math
from collections.abc import Mapping

from repertoire.learning.intervals import wilson
from repertoire.learning.memory import Memory, Record

_TAKEN, _OUTCOME = 0.5, 0.6  # the most that each part may say
_DOUBT = 4.0  # looks' worth of the usual rate, which every component begins with
_SPAN = math.log(4.0)  # taken four times as often as usual says all that can be said
_NEVER = 1e-9


def leanings(memory: Memory) -> Mapping[str, float]:
    """Return what speaks for or against each component that is remembered."""
    usual = memory.rate
    return {node: leaning(record, usual) for node, record in memory.records.items()}


def leaning(record: Record, usual: float) -> float:
    """Return what speaks for a component that is taken, and did, like this, where offers are taken as usual."""
    if record.lift.harmful:  # nothing that else speaks for it outweighs that tasks go better without it
        return -1.0
    total = _TAKEN * _liked(record, usual) + _OUTCOME * _proved(record)
    return min(max(total, -1.0), 1.0)


def _liked(record: Record, usual: float) -> float:
    if not record.looks or usual < _NEVER:
        return 0.0
    # Who uses it without being told of it has looked, and taken it.
    rate = (record.taken + record.alone + _DOUBT * usual) / (record.looks + record.alone + _DOUBT)
    return min(max(math.log(rate / usual) / _SPAN, -1.0), 1.0)


def _proved(record: Record) -> float:
    """Return -1 for what surely fails to 1 for what surely works; 0 while its bounds hold a half."""
    bounds = wilson(record.good, record.good + record.bad)
    return 2.0 * (max(bounds.low - 0.5, 0.0) - max(0.5 - bounds.high, 0.0))
