"""Tells how much of a question stands together in a text: in two lines in a row."""

from __future__ import annotations

import math
from collections.abc import Sequence
from collections.abc import Set as AbstractSet

_WINDOW = 2  # lines


def best_passages(texts: Sequence[Sequence[AbstractSet[str]]], words: AbstractSet[str]) -> list[float]:
    """Return for each text the share of the question in its best passage; a word counts more that few texts have."""
    known = [frozenset[str]().union(*lines) & words for lines in texts]
    frequency = {word: sum(word in one for one in known) for word in words}
    weight = {word: math.log(1 + len(texts) / count) for word, count in frequency.items() if count}
    total = sum(weight.values())
    if not total:
        return [0.0] * len(texts)
    return [_best(lines, weight) / total if one else 0.0 for lines, one in zip(texts, known, strict=True)]


def _best(lines: Sequence[AbstractSet[str]], weight: dict[str, float]) -> float:
    held = [weight.keys() & line for line in lines]
    return max(
        sum(weight[word] for word in frozenset[str]().union(*held[at : at + _WINDOW]))
        for at in range(max(len(held) - _WINDOW + 1, 1))
    )
