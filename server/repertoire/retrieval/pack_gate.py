"""Tells which of several packs a question is about: by nearness, by the rare words, and each beside the others."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

NEAREST = 20  # sections of each pack that are looked at
# Plain values of a good region, with four packs known; bench/packs has what each pack left out chooses.
_HELD = 0.2  # weight of the share of the question's words that a section holds, beside its cosine
_SAID = 0.08  # weight of how usual the question's words are in a pack
_PRIOR = 80_000  # characters of all packs that count as a part of each: a small pack lacks words by chance


@dataclass(frozen=True)
class PackView:
    """What one pack has of a question: its size, how many of its sections hold each word, and its nearest sections.

    Each of these is a cosine and the words of the question that the section holds.
    """

    sections: int
    characters: int
    counts: Mapping[str, int]
    nearest: Sequence[tuple[float, frozenset[str]]]


def margins(words: Sequence[str], packs: Sequence[PackView]) -> list[float]:
    """Return how far each pack is ahead of the best other one; behind is less than 0. A lone pack is infinitely ahead.

    Rare is a word that few sections of all these packs hold; a pack speaks of it if it has it more often than they do.
    """
    total = {word: sum(pack.counts.get(word, 0) for pack in packs) for word in words}
    sections, characters = sum(pack.sections for pack in packs), sum(pack.characters for pack in packs)
    rarity = {word: math.log((sections + 1) / (total[word] + 0.5)) for word in words}
    usual = {word: (total[word] + 0.5) / max(characters, 1) for word in words}
    near = [_nearness(pack, rarity) for pack in packs]
    said = [_vocabulary(pack, usual) for pack in packs]
    return [
        _ahead(near, place) + _SAID * _ahead(said, place) if len(packs) > 1 else math.inf for place in range(len(packs))
    ]


def _nearness(pack: PackView, rarity: Mapping[str, float]) -> float:
    """Return the best sum of a section's cosine and the weighted share of the words that it holds."""
    all_words = sum(rarity.values()) or 1.0
    found = (cosine + _HELD * sum(rarity[word] for word in held) / all_words for cosine, held in pack.nearest)
    return max(found, default=0.0)


def _vocabulary(pack: PackView, usual: Mapping[str, float]) -> float:
    """Return the mean logarithm of how much more often than all packs a pack has the words."""
    if not usual:
        return 0.0
    ratios = (
        (pack.counts.get(word, 0) + _PRIOR * often) / (pack.characters + _PRIOR) / often
        for word, often in usual.items()
    )
    return sum(math.log(ratio) for ratio in ratios) / len(usual)


def _ahead(values: Sequence[float], place: int) -> float:
    return values[place] - max(value for other, value in enumerate(values) if other != place)
