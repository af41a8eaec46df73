"""Intervals that hold a share, or the difference of two, with 95 %: Wilson's score, and Newcombe's hybrid of two.

E. B. Wilson, J. Am. Stat. Assoc. 22 (1927) 209-212; R. G. Newcombe, Statistics in Medicine 17 (1998) 873-890, the
tenth of his methods.
Both take counts that are decayed: fewer of them make an interval wider.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

_Z = 1.96  # 95 %
_NONE = 1e-6


@dataclass(frozen=True)
class Interval:
    """A share between two bounds that hold it with 95 %."""

    low: float = 0.0
    high: float = 1.0


@dataclass(frozen=True)
class RateDifference:
    """One share less another, between the bounds that hold it with 95 %; anything where either was never tried."""

    value: float = 0.0
    low: float = -1.0
    high: float = 1.0


ANY_SHARE, ANY_DIFFERENCE = Interval(), RateDifference()


def wilson(successes: float, trials: float) -> Interval:
    """Return Wilson's bounds of a share; everything is possible where nothing was tried."""
    if trials < _NONE:  # decayed to nothing
        return ANY_SHARE
    share, z2 = successes / trials, _Z * _Z
    middle = (share + z2 / (2 * trials)) / (1 + z2 / trials)
    spread = _Z * math.sqrt(share * (1 - share) / trials + z2 / (4 * trials * trials)) / (1 + z2 / trials)
    return Interval(max(middle - spread, 0.0), min(middle + spread, 1.0))


def newcombe(first: tuple[float, float], second: tuple[float, float]) -> RateDifference:
    """Return the first share less the second, each given as successes and trials."""
    if first[1] < _NONE or second[1] < _NONE:
        return ANY_DIFFERENCE
    one, other = first[0] / first[1], second[0] / second[1]
    here, there = wilson(*first), wilson(*second)
    value = one - other
    return RateDifference(
        value,
        value - math.hypot(one - here.low, there.high - other),
        value + math.hypot(here.high - one, other - there.low),
    )
