"""Tells whether two texts say the same: which words one has and the other lacks."""

from __future__ import annotations

from collections.abc import Set as AbstractSet

_SAME = 0.85  # share of all words that both have: Memory Fabric's bound for one memory told twice
SAME, NEAR, OTHER = "same", "near", "other"


def likeness(new: AbstractSet[str], old: AbstractSet[str]) -> str:
    """Return `same` where a new text has all words of an old one and few more, `near` where words were exchanged.

    An exchanged word may be a contradiction (Redis, PostgreSQL), a word that is gone a correction, and a single `not`
    the opposite: they are never the same.
    """
    both, all_words = len(new & old), len(new | old)
    if not all_words or both / all_words <= _SAME:
        return OTHER
    return SAME if old <= new and not (new ^ old) & _DENYING else NEAR


_DENYING = frozenset(  # as stems
    """no not never without don doesn isn aren won cannot longer except nicht kein keinen keiner keinem nie niemal ohn
    pa jamai san aucun plu nunca sin jama ningun ninguna tampoco nao sem nenhum nenhuma non senza mai nessun nessuna не
    нет без никогда нельзя niet geen nooit zonder nigdi bez int ingen aldrig utan""".split()
)
