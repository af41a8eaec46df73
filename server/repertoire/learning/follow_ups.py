"""Recognises prompts that name no work of their own but refer to earlier work: "do the next step", "option 2"."""

from __future__ import annotations

import re
from collections.abc import Sequence

_WHICH = frozenset(
    """above again another below both different differently fifth first former fourth last latest latter next other
    others previous remaining rest same second third""".split()
)
_SUGGESTED = frozenset("plan plans recommendation recommendations suggestion suggestions".split())
_COUNTED = frozenset(
    """alternative approach approaches item items one option options part parts phase phases point points proposal
    proposals section sections step steps task tasks todo todos variant variants version""".split()
)
_CARRY_OUT = frozenset("apply continue execute follow implement proceed".split())
_BESIDE = frozenset(
    """actually check choose complete cool either finish fix go going good great half handle instead keep nice ok okay
    perfect pick redo repeat retry run start sure way yeah yes""".split()
)
_BESIDE_ANY = _WHICH | _SUGGESTED | _COUNTED | _CARRY_OUT | _BESIDE
_REST = re.compile(r"\bREST\b")  # no rest of anything
_BEHIND_WHICH = frozenset("file files three two".split())
_NUMBER, _NUMBER_ALONE = re.compile(r"v?\d{1,2}"), re.compile(r"\W*v?\d+(?:\.\d+)*\W*")
# "the same for orders", "do it for the web app too": for what it is to be done says nothing of what is done
_LIKEWISE = re.compile(
    r"\W*(?:(?:ok|okay|yes|and|now|then|please|good|can you|could you)[\s,]+)*"
    r"(?:(?:do )?(?:exactly )?(?:the )?same(?: thing)?(?: again)? (?:as|at|for|in|on|to|with)\b"
    r"|do (?:it|that|this) (?:again )?for (?!me\b|us\b)) *[\w./@-]+(?:[\s,]+[\w./@-]+){0,4}[!?\s]*",
    re.IGNORECASE,
)


def is_follow_up(prompt: str, words: Sequence[str]) -> bool:
    """Tell whether a prompt, whose content words are given, refers to earlier work and names none of its own."""
    if _LIKEWISE.fullmatch(prompt.strip()) or _NUMBER_ALONE.fullmatch(prompt):
        return True
    if _REST.search(prompt) or not all(
        _says_nothing(word, words[at - 1] if at else "") for at, word in enumerate(words)
    ):
        return False
    numbered = any(map(_NUMBER.fullmatch, words)) and not _COUNTED.isdisjoint(words)
    carries_out = not (_CARRY_OUT.isdisjoint(words) or _SUGGESTED.isdisjoint(words))
    return numbered or carries_out or not _WHICH.isdisjoint(words)


def _says_nothing(word: str, before: str) -> bool:
    """Tell whether a word beside a reference says nothing of the work; `before`: the content word before it."""
    known = word in _BESIDE_ANY or _NUMBER.fullmatch(word) is not None
    return known or (word in _BEHIND_WHICH and before in _WHICH)
