"""Tells whether two texts say the same: which words one has and the other lacks."""

from __future__ import annotations

from collections.abc import Set as AbstractSet

_SAME = 0.85  # share of all words that both have: Memory Fabric's bound for one memory told twice
SAME, NEAR, OTHER = "same", "near", "other"


def likeness(first: AbstractSet[str], second: AbstractSet[str]) -> str:
    """Return `same` where one text has all words of the other and few more, `near` where some words are exchanged.

    An exchanged word may be a contradiction (Redis, PostgreSQL), as may a single `not`: they are never the same.
    """
    both, all_words = len(first & second), len(first | second)
    if not all_words or both / all_words <= _SAME:
        return OTHER
    return SAME if (first <= second or second <= first) and not (first ^ second) & _DENYING else NEAR


_DENYING = frozenset(
    ("no", "not", "never", "without", "don", "doesn", "isn", "aren", "won", "cannot", "longer", "except")
)
