"""Finds the words of a question in a component's text, for both the shown reasons and the confidence."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import lru_cache

import numpy as np

from repertoire.domain.component import BODY_INDEXED, Component

_ENDINGS = ("ations", "ation", "ments", "ment", "ings", "ing", "ies", "ers", "er", "ed", "es", "s", "e", "y")
_SHORTEST = 3
_WHOLE = 4  # letters of a word that may be the beginning of a longer one, as `auth` of `authentication`


def held_words(words: Sequence[str], component: Component) -> list[str]:
    """Return the words, in order, whose stem begins a word of the component's searched text."""
    return _held(words, component)[0]


def _held(words: Sequence[str], component: Component) -> tuple[list[str], frozenset[str]]:
    """Return the held words, and the words of the text that begin with the stem of any of the words."""
    if not words:
        return [], frozenset()
    stems, pattern = _stems_and_pattern(tuple(words))
    begun = {match[0]: match[1] for match in pattern.finditer(searched_text(component))}
    held = frozenset(begun.values())
    return [word for word, stemmed in zip(words, stems, strict=True) if stemmed in held], frozenset(begun)


def told_words(words: Sequence[str], component: Component) -> list[str]:
    """Return those held words that a reader finds in the text: in another form of the word, or as its beginning.

    The stem of a short word begins many others ("speed", "specific"): enough for evidence, too little for a reason.
    """
    held, text = _held(words, component)
    stems = frozenset(map(stem, text))
    return [
        word
        for word in held
        if not word.isdecimal()
        and (stem(word) in stems or (len(word) >= _WHOLE and any(other.startswith(word) for other in text)))
    ]


def searched_text(component: Component) -> str:
    """Return the text of a component in which words are looked for, in lower case."""
    return f"{component.name} {component.description} {component.english} {component.body[:BODY_INDEXED]}".lower()


def rarity(frequency: Mapping[str, int], size: int) -> dict[str, float]:
    """Return the inverse document frequency of each word among `size` components."""
    return {word: float(np.log((size - count + 0.5) / (count + 0.5) + 1.0)) for word, count in frequency.items()}


def coverage(rarities: Mapping[str, float], component: Component) -> float:
    """Return the share of a question's words that a component's text holds, weighted by rarity."""
    total = sum(rarities.values())
    return sum(rarities[word] for word in held_words(list(rarities), component)) / total if total > 0.0 else 0.0


@lru_cache(maxsize=8)  # one question is compared with a dozen components: 5 ms if it has 300 words
def _stems_and_pattern(words: tuple[str, ...]) -> tuple[tuple[str, ...], re.Pattern[str]]:
    """Return the stems of words, and a pattern that finds each word that begins with one; its group is the stem."""
    stems = tuple(stem(word) for word in words)
    longest_first = sorted(map(re.escape, dict.fromkeys(reversed(stems))), key=len, reverse=True)
    return stems, re.compile(r"(?<![^\W_])(" + "|".join(longest_first) + r")[^\W_]*")


@lru_cache(maxsize=1 << 14)
def stem(word: str) -> str:
    """Return a word without one common English ending, so that `tests` and `testing` are equal."""
    for ending in _ENDINGS:
        if word.endswith(ending) and len(word) - len(ending) >= _SHORTEST:
            return word[: -len(ending)]
    return word
