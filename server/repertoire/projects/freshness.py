"""Tells which notes nobody confirmed for so long that they may not hold, how often one was used or said again."""

from __future__ import annotations

import math
from collections.abc import Mapping
from datetime import date

from repertoire.domain.project import NOTE, SUPERSEDED, Entry

USES = "uses"  # the field of an entry that counts how often it was followed
CREDIT = "credit"  # the field that counts how often something linked with an entry came to a good end
TIMES_SAID = "times_said"  # the field of a note that counts how often it was saved in nearly the same words
_USUAL = 90
_PROVED, _MOST = 0.05, 1.25  # it decides among what fits about as well, and outweighs no fit
# Days after which a note of a category is to be confirmed, as Memory Fabric has them; None: never.
_DAYS: Mapping[str, int | None] = {"decision": 90, "pattern": 180, "technology": 120, "preference": 365, "fact": None}


def uses_of(entry: Entry) -> int:
    """Return how often an entry was followed, by what was reported."""
    value = entry.data.get(USES)
    return value if isinstance(value, int) and value > 0 else 0


def credit_of(entry: Entry) -> float:
    """Return how often something linked with an entry came to a good end; what is further away counts less."""
    value = entry.data.get(CREDIT)
    return float(value) if isinstance(value, (int, float)) and value > 0 else 0.0


def trust(times: float) -> float:
    """Return the factor of what proved itself: nothing more at first, 5 % a doubling, at most 25 %."""
    return min(1.0 + _PROVED * math.log2(max(times, 1.0)), _MOST)


def times_said(entry: Entry) -> int:
    """Return how often a note was saved, in the same or nearly the same words."""
    value = entry.data.get(TIMES_SAID)
    return value if isinstance(value, int) and value > 1 else 1


def unconfirmed_days(entry: Entry, today: date) -> int:
    """Return the days since a note was saved or confirmed, if they are too many; else 0."""
    limit = _DAYS.get(str(entry.data.get("category", "")), _USUAL)
    if entry.kind != NOTE or entry.status == SUPERSEDED or limit is None:
        return 0
    try:
        days = (today - date.fromisoformat(entry.changed[:10])).days
    except ValueError:
        return 0
    return days if days > limit else 0
