"""Which words of a question a component's text holds: the one notion that reasons and confidence share."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

import numpy as np

from repertoire.domain.component import BODY_INDEXED, Component

_ENDINGS = ("ations", "ation", "ments", "ment", "ings", "ing", "ies", "ers", "er", "ed", "es", "s", "e", "y")
_SHORTEST = 3


def held_words(words: Sequence[str], component: Component) -> list[str]:
    """Return the words, in their order, that stand in the searched text, whatever their endings."""
    if not words:
        return []
    stems = {stem(word): word for word in reversed(words)}
    text = f"{component.name} {component.description} {component.body[:BODY_INDEXED]}".lower()
    pattern = r"(?<![^\W_])(" + "|".join(sorted(map(re.escape, stems), key=len, reverse=True)) + ")"
    held = set(re.findall(pattern, text))
    return [word for word in words if stem(word) in held]


def rarity(frequency: Mapping[str, int], size: int) -> dict[str, float]:
    """Return how much each word tells apart: its inverse document frequency among so many components."""
    return {word: float(np.log((size - count + 0.5) / (count + 0.5) + 1.0)) for word, count in frequency.items()}


def coverage(rarities: Mapping[str, float], component: Component) -> float:
    """Return the share of a question's words, rare ones counting more, that a component's text holds."""
    total = sum(rarities.values())
    return sum(rarities[word] for word in held_words(list(rarities), component)) / total if total > 0.0 else 0.0


def stem(word: str) -> str:
    """Return a crude stem: enough to see that `tests` and `testing` are one word."""
    for ending in _ENDINGS:
        if word.endswith(ending) and len(word) - len(ending) >= _SHORTEST:
            return word[: -len(ending)]
    return word
