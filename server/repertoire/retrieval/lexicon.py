"""A developer's words in one other language, and the English for them: `lexica/*.txt`, each read when it is needed.

A line has an English word and, after a colon, what says it; `*` stands for any ending. What follows `-` only gets in
the way, and what follows `~` may stand in an English sentence as well: it does not tell the language.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from functools import cache, cached_property
from pathlib import Path

FOLDER = Path(__file__).with_name("lexica")
_DROPPED, _SHARED = "-", "~"
_SHORTEST = 3  # letters before an ending
_OWN, _ENGLISH_TOO = 1.0, 0.5
# letters that endings are made of, Cyrillic ones too, and how many stay before them
_ENDINGS = "aeiosnr\u0430\u0435\u0438\u043e\u0443\u044b\u044c\u044e\u044f\u0439\u0445\u043c"
_STEM = 4
_PART = 4  # letters of a compound's part
_JOINTS = ("", "s", "es", "n", "en")  # what German puts between the parts
_OPENING = 3  # letters by which it is seen whether a phrase can begin here


class Lexicon:
    """The words of one language."""

    def __init__(self, code: str, text: str) -> None:
        """Read the words from the text of their file."""
        self._code = code
        self._exact: dict[str, str] = {}
        self._begun: dict[str, str] = {}
        self._shared: frozenset[str] = frozenset()
        for line in text.splitlines():
            english, told, said = line.partition(": ")
            if english == _SHARED:
                self._shared = frozenset(said.split(", "))
            elif told:
                self._keep("" if english == _DROPPED else english, said.replace("'", "' ").split(", "))

    def tells(self, words: Sequence[str]) -> float:
        """Return how many words are of this language, those of English too by half; 0 where all may be English."""
        known = [self._known(word) for word in words]
        return sum(known) if _OWN in known else 0.0

    def _known(self, word: str) -> float:
        entry = word if word in self._exact else self._begin(word) + "*"
        if entry == "*":
            return 0.0
        return _ENGLISH_TOO if entry in self._shared else _OWN

    def written(self, text: str) -> str | None:
        """Return the English for what is written just so; None where it is not known."""
        found = self._exact.get(text)
        return self._begun.get(text) if found is None else found

    def word(self, word: str) -> str | None:
        """Return the English for a word in any of its forms; None where it is not known."""
        if (found := self._exact.get(word)) is not None:
            return found
        begun = self._begin(word)
        if self._code == "de" and len(word) - len(begun) > _PART and (found := self._compound(word)) is not None:
            return found
        return self._begun[begun] if begun else self._loose.get(loosely(word))

    def phrase(self, words: Sequence[str]) -> str | None:
        """Return the English for a phrase in any of its forms; None where it is none that is known."""
        if words[0][:_OPENING] not in self._openings:
            return None
        text = " ".join(words)
        if (found := self._exact.get(text)) is not None:
            return found
        begun = self._begin(text)
        if begun.count(" ") == len(words) - 1:
            return self._begun[begun]
        return self._loose.get(unaccented(text))

    @cached_property
    def longest(self) -> int:
        """Characters of the longest word or phrase."""
        return max(map(len, (*self._exact, *self._begun)))

    @cached_property
    def most(self) -> int:
        """Words of the longest phrase."""
        return max(text.count(" ") for text in (*self._exact, *self._begun)) + 1

    def _keep(self, english: str, said: Sequence[str]) -> None:
        for text in said:
            if text.endswith("*"):
                self._begun[text[:-1]] = english
            else:
                self._exact[text.strip()] = english

    def _begin(self, text: str) -> str:
        """Return the longest beginning of a text that any ending may follow."""
        return next((text[:end] for end in range(len(text), _SHORTEST - 1, -1) if text[:end] in self._begun), "")

    def _compound(self, word: str) -> str | None:
        """Return the English for a compound of known words, the longest first; None where a part is not known."""
        for end in range(len(word) - _PART, _PART - 1, -1):
            first = self._part(word[:end])
            second = self.word(word[end:]) if first else None
            if second is not None:
                return f"{first} {second}".strip()
        return None

    def _part(self, word: str) -> str | None:
        bare = (word.removesuffix(joint) for joint in _JOINTS if word.endswith(joint))
        return next((found for part in bare if len(part) >= _PART and (found := self.written(part))), None)

    @cached_property
    def _openings(self) -> frozenset[str]:
        phrases = (text for text in (*self._exact, *self._begun) if " " in text)
        return frozenset(part[:_OPENING] for text in phrases for part in (text, unaccented(text)))

    @cached_property
    def _loose(self) -> dict[str, str]:
        """The words without accents and endings, phrases without accents; the first of those that are then the same."""
        found: dict[str, str] = {}
        for text, english in self._exact.items():
            if english and len(text) > _SHORTEST:
                found.setdefault(unaccented(text) if " " in text else loosely(text), english)
        return found


def loosely(word: str) -> str:
    """Return a word without accents and endings: what is left of most of its forms."""
    bare = unaccented(word)
    return bare[:_STEM] + bare[_STEM:].rstrip(_ENDINGS)


def unaccented(word: str) -> str:
    """Return a word without its accents, as many type it."""
    if word.isascii():
        return word
    return "".join(letter for letter in unicodedata.normalize("NFKD", word) if not unicodedata.combining(letter))


@cache
def lexicon(code: str) -> Lexicon:
    """Return the words of a language, read once."""
    return Lexicon(code, (FOLDER / f"{code}.txt").read_text(encoding="utf-8"))
