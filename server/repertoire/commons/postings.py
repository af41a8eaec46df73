"""Reads the postings of words from PostgreSQL: which traces hold a word, how often, and how many words they have."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from repertoire.commons import lexemes
from repertoire.commons.database import Connection

ENTRY = np.dtype([("number", ">i8"), ("times", ">i2"), ("length", ">i4")])  # as the trigger `count_words` writes it
_COUNTED = 20_000  # traces with the rarest stem of a word, above which its stems are not counted together

Word = tuple[str, ...]  # the stems of a word: a name such as `module.exports` has several
Entries = NDArray[Any]  # of dtype ENTRY, by number


class Postings:
    """The postings of one community, each stem read once within one transaction."""

    def __init__(self, connection: Connection, community: str) -> None:
        self._db, self._community = connection, community
        self._counts: dict[str, int] = {}
        self._read: dict[str, Entries] = {}
        self._words: dict[Word, Entries] = {}

    def frequencies(self, words: Sequence[Word]) -> dict[Word, int]:
        """Count the traces that hold each word; a word of very common stems counts as the rarest of them."""
        self._count({stem for word in words for stem in word})
        rarest = {word: min((self._counts[stem] for stem in word), default=0) for word in words}
        together = [word for word in rarest if len({*word}) > 1 and 0 < rarest[word] <= _COUNTED]
        self._load({stem for word in together for stem in word})
        return {**rarest, **{word: len(self._of(word)) for word in together}}

    def of(self, words: Sequence[Word]) -> dict[Word, Entries]:
        """Map words to the traces that hold all their stems; `times` is how often the rarest of these occurs."""
        self._load({stem for word in words for stem in word})
        return {word: self._of(word) for word in words}

    def _of(self, word: Word) -> Entries:
        if word not in self._words:  # a search counts its words twice before it scores them
            self._words[word] = self._intersection(word)
        return self._words[word]

    def _intersection(self, word: Word) -> Entries:
        first, *others = sorted((self._read[stem] for stem in {*word}), key=len)
        for other in others:
            _, here, there = np.intersect1d(first["number"], other["number"], assume_unique=True, return_indices=True)
            first = first[here]
            first["times"] = np.minimum(first["times"], other["times"][there])
        return first

    def _count(self, stems: Iterable[str]) -> None:
        names = self._names(stem for stem in stems if stem not in self._counts)
        if not names:
            return
        rows = self._db.execute(
            "SELECT lexeme, traces FROM word_count WHERE community = %s AND lexeme = ANY(%s)",
            (self._community, list(names)),
        )
        self._counts.update(dict.fromkeys(names.values(), 0))
        self._counts.update((names[name], int(count)) for name, count in rows)

    def _load(self, stems: Iterable[str]) -> None:
        names = self._names(stem for stem in stems if stem not in self._read)
        if not names:
            return
        rows = self._db.execute(
            "SELECT lexeme, string_agg(entries, ''::bytea ORDER BY block) FROM posting "
            "WHERE community = %s AND lexeme = ANY(%s) GROUP BY lexeme",
            (self._community, list(names)),
            binary=True,
        )
        self._read.update((stem, np.empty(0, ENTRY)) for stem in names.values())
        self._read.update((names[name], np.frombuffer(entries, ENTRY)) for name, entries in rows)

    def _names(self, stems: Iterable[str]) -> dict[str, str]:
        """Map lexemes to the stems that they stand for."""
        return {lexemes.lexeme(self._community, stem): stem for stem in stems}
