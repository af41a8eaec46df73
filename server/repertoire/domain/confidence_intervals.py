"""Computes 95 % confidence intervals of a share (Wilson) and of the difference of two shares (Newcombe).

E. B. Wilson, J. Am. Stat. Assoc. 22 (1927) 209-212; R. G. Newcombe, Statistics in Medicine 17 (1998) 873-890, the
tenth of his methods.
Both accept decayed counts; smaller counts give wider intervals.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

_Z = 1.96  # 95 %
_NONE = 1e-6  # decayed trials below which nothing is known


@dataclass(frozen=True)
class Interval:
    """The bounds of a 95 % confidence interval of a share; 0 and 1 without any trial."""

    low: float = 0.0
    high: float = 1.0


@dataclass(frozen=True)
class RateDifference:
    """The difference of two shares with its 95 % confidence interval; -1 to 1 if either has no trials."""

    value: float = 0.0
    low: float = -1.0
    high: float = 1.0


ANY_SHARE, ANY_DIFFERENCE = Interval(), RateDifference()


def wilson(successes: float, trials: float) -> Interval:
    """Return the Wilson score interval of a share; 0 to 1 without trials."""
    if trials < _NONE:  # decayed to nothing
        return ANY_SHARE
    share, z2 = successes / trials, _Z * _Z
    middle = (share + z2 / (2 * trials)) / (1 + z2 / trials)
    spread = _Z * math.sqrt(share * (1 - share) / trials + z2 / (4 * trials * trials)) / (1 + z2 / trials)
    return Interval(max(middle - spread, 0.0), min(middle + spread, 1.0))


def newcombe(first: tuple[float, float], second: tuple[float, float]) -> RateDifference:
    """Return the difference of two shares with Newcombe's interval; each share is given as successes and trials."""
    if first[1] < _NONE or second[1] < _NONE:
        return ANY_DIFFERENCE
    first_share, second_share = first[0] / first[1], second[0] / second[1]
    here, there = wilson(*first), wilson(*second)
    value = first_share - second_share
    return RateDifference(
        value,
        value - math.hypot(first_share - here.low, there.high - second_share),
        value + math.hypot(here.high - first_share, second_share - there.low),
    )
