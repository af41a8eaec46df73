"""Tells how much of a reference answer stands in passages: the share of its content words, each weighed by rarity."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Sequence

from repertoire.domain.text import content_words

READ = 2_000  # characters of the passages that a reader takes in, best first


class Nuggets:
    """The rarity of words among the sections of a pack. Synonyms do not count: compare figures with each other."""

    def __init__(self, sections: Iterable[str]) -> None:
        self._sections = 0
        self._known = Counter[str]()
        for text in sections:
            self._sections += 1
            self._known.update(set(content_words(text)))

    def coverage(self, answer: str, passages: Sequence[str]) -> float:
        """Return the share of an answer that the first characters of passages say, 0 to 1."""
        wanted = set(content_words(answer))
        total = sum(map(self._weight, wanted))
        said = set(content_words("\n".join(passages)[:READ]))
        return sum(map(self._weight, wanted & said)) / total if total > 0.0 else 0.0

    def _weight(self, word: str) -> float:
        return math.log((self._sections + 1) / (self._known[word] + 1))
