"""Tells whether two texts say the same: which words one has and the other lacks."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from collections.abc import Set as AbstractSet

_SAME = 0.85  # share of all words that both have: Memory Fabric's bound for one memory told twice
_BETWEEN = 1  # other words between two that are said: `the big kiln` is the kiln
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


def likeness_in_order(new: Sequence[str], old: Sequence[str]) -> str:
    """Return the likeness of two texts of which words, or letters where no blank parts words, are given in order.

    Letters have many meanings: they say the same only in the same order, and if no more of them deny.
    """
    how = likeness({*new}, {*old})
    if how != SAME or all(word.isascii() or len(word) > 1 for word in new):
        return how
    rest = iter(new)
    in_order = all(letter in rest for letter in old)
    denials = [len(_DENYING_LETTERS.findall("".join(words))) for words in (new, old)]
    return SAME if in_order and denials[0] == denials[1] else NEAR


def repeats(new: Sequence[str], old: Sequence[str]) -> bool:
    """Tell whether an old text has all words of a new one in its order, and neither denies what the other does not.

    In another order, or with others between them, the same words may say the opposite: a parser in Rust and a tool in
    Go is no parser in Go.
    """
    said, known = telling(new), telling(old)
    begins = (place for place, word in enumerate(known) if said and word == said[0])
    return any(_goes_on(said, known, place) for place in begins) and not ({*said} ^ {*old}) & _DENYING


def _goes_on(said: Sequence[str], known: Sequence[str], place: int) -> bool:
    for word in said[1:]:
        near = known[place + 1 : place + 2 + _BETWEEN]
        if word not in near:
            return False
        place += 1 + near.index(word)
    return True


def telling(words: Iterable[str]) -> list[str]:
    """Return the stems that say what was decided, wanted or is to be remembered, and not only that it was."""
    return [word for word in words if word not in _OPENING]


# as stems: what only says that something was decided, is wanted or is to be remembered
_OPENING = frozenset(
    """we i ve have decid decis agre settl chose let s stick with standard on go ahead forward from now in the
    futur pleas alwai prefer rememb keep mind note for record that todo follow up a an to of our is are be it
    will""".split()
)
_DENYING_LETTERS = re.compile(
    "[不没沒无無非别別勿未否禁停废廃弃棄止ぬ안않못없말]|ない|なか|なく|ませ|[かさせたばらわえけげねべめみびきちり]ず|아니"
)
_DENYING = frozenset(  # as stems
    """no not never without don doesn isn aren won cannot longer except nicht kein keinen keiner keinem nie niemal ohn
    pa jamai san aucun plu nunca sin jama ningun ninguna tampoco nao sem nenhum nenhuma non senza mai nessun nessuna не
    нет без никогда нельзя niet geen nooit zonder nigdi bez int ingen aldrig utan""".split()
)
