"""Computes a score from -1 to 1 from the usage of each component, whatever the question; 0 without usage.

The score has two bounded parts: the rate at which impressions are taken, compared with the usual rate; and the
outcomes. Components without usage are never changed, but for a small part where a team uses them; hints explore the
others (app/session/hint.py).
"""

from __future__ import annotations

import math
from collections.abc import Mapping

from repertoire.domain.confidence_intervals import wilson
from repertoire.learning.shared_use import FLOOR, TeamUse
from repertoire.learning.usage import ComponentUsage, Usage

_TAKEN, _OUTCOME = 0.5, 0.6  # largest amounts of the two parts: rate of taken impressions, outcomes
_TEAM, _TEAM_OUTCOME = 0.2, 0.1  # most of a third part, for use and for outcomes: nobody's word on this question
_PRIOR_LOOKS = 4.0  # weight of the prior, in impressions at the usual rate
_SPAN = math.log(4.0)  # log of the ratio to the usual rate that gives the full first part
_NEVER = 1e-9  # usual rate below which there is nothing to compare


def usage_scores(usage: Usage, team: Mapping[str, TeamUse] | None = None) -> Mapping[str, float]:
    """Return the usage score of each component with usage here, or of which a team tells."""
    usual = usage.rate
    scores = {node: usage_score(record, usual) for node, record in usage.records.items()}
    for key, told in (team or {}).items():
        node = usage.same.get(key, key)
        if scores.get(node) != -1.0:
            scores[node] = min(max(scores.get(node, 0.0) + team_part(told), -1.0), 1.0)
    return scores


def team_part(told: TeamUse) -> float:
    """Return what a team's use adds to a score.

    For use, half of its most at one step of members, all of it from 15 on, and less as more of those who were offered
    it do not use it. For outcomes, its most above one half where it worked for all, below it where it failed for all.
    """
    use = min(math.log2(1 + told.used / FLOOR) / 2, 1.0) * told.taken
    outcome = 0.0 if told.worked is None else 2.0 * told.worked - 1.0
    return _TEAM * use + _TEAM_OUTCOME * outcome


def usage_score(record: ComponentUsage, usual: float) -> float:
    """Return the usage score of one component, where `usual` is the rate of taken impressions over all."""
    if record.lift.harmful:  # tasks go better without it, which outweighs all other usage
        return -1.0
    total = _TAKEN * _liked(record, usual) + _OUTCOME * _proved(record)
    return min(max(total, -1.0), 1.0)


def _liked(record: ComponentUsage, usual: float) -> float:
    if not record.looks or usual < _NEVER:
        return 0.0
    # A use without an offer counts as an impression that was taken.
    rate = (record.taken + record.alone + _PRIOR_LOOKS * usual) / (record.looks + record.alone + _PRIOR_LOOKS)
    return min(max(math.log(rate / usual) / _SPAN, -1.0), 1.0)


def _proved(record: ComponentUsage) -> float:
    """Return -1 (surely fails) to 1 (surely works); 0 while the Wilson interval includes one half.

    A person who says that it failed is believed at once: one such word costs more than any number of ignored offers.
    """
    bounds = wilson(record.good, record.good + record.bad)
    return max(2.0 * (max(bounds.low - 0.5, 0.0) - max(0.5 - bounds.high, 0.0)) - record.refused, -1.0)
