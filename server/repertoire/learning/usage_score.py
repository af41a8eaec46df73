"""Turns the usage of each component into a score from -1 to 1; 0 without usage.

Two parts, each bounded, none of them about a question: how often those who look at it take it to the good, against the
usual; and what came of it. What has no history is never changed. Hints see to it that the unseen is seen
(app/session/hint.py).
"""

from __future__ import annotations

import math
from collections.abc import Mapping

from repertoire.domain.confidence_intervals import wilson
from repertoire.learning.usage import ComponentUsage, Usage

_TAKEN, _OUTCOME = 0.5, 0.6  # largest amounts of the two parts: how often it is taken, how it then went
_PRIOR_LOOKS = 4.0  # prior: every component begins with so many looks at the usual rate
_SPAN = math.log(4.0)  # a component that is taken four times as often as usual has the highest score
_NEVER = 1e-9


def usage_scores(usage: Usage) -> Mapping[str, float]:
    """Return what speaks for or against each component that is remembered."""
    usual = usage.rate
    return {node: usage_score(record, usual) for node, record in usage.records.items()}


def usage_score(record: ComponentUsage, usual: float) -> float:
    """Return what speaks for a component that is taken, and did, like this, where offers are taken as usual."""
    if record.lift.harmful:  # nothing that else speaks for it outweighs that tasks go better without it
        return -1.0
    total = _TAKEN * _liked(record, usual) + _OUTCOME * _proved(record)
    return min(max(total, -1.0), 1.0)


def _liked(record: ComponentUsage, usual: float) -> float:
    if not record.looks or usual < _NEVER:
        return 0.0
    # Who uses it without being told of it has looked, and taken it.
    rate = (record.taken + record.alone + _PRIOR_LOOKS * usual) / (record.looks + record.alone + _PRIOR_LOOKS)
    return min(max(math.log(rate / usual) / _SPAN, -1.0), 1.0)


def _proved(record: ComponentUsage) -> float:
    """Return -1 for what surely fails to 1 for what surely works; 0 while its bounds hold a half."""
    bounds = wilson(record.good, record.good + record.bad)
    return 2.0 * (max(bounds.low - 0.5, 0.0) - max(0.5 - bounds.high, 0.0))
