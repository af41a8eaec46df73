"""Looks up the English for developers' words of one other language, from `dictionaries/*.txt`.

A line has an English word and, after a colon, its translations; `*` stands for any ending. Words after `-` are
dropped. Words after `~` may stand in an English sentence too, and so count less for detecting the language.
"""

from __future__ import annotations

import hashlib
import re
import unicodedata
from collections.abc import Mapping, Sequence
from functools import cache, cached_property
from pathlib import Path

from repertoire.domain.chinese import TRADITIONAL

FOLDER = Path(__file__).with_name("dictionaries")
_DROPPED, _SHARED = "-", "~"
_SHORTEST = 3  # letters that stand before an ending, at least
_OWN, _ENGLISH_TOO = 1.0, 0.5
# Letters that endings consist of, Latin and Cyrillic; the first _STEM letters of a word are never an ending, and those
# of _ENDING letters are the longest.
_ENDINGS = "aeiosnr\u0430\u0435\u0438\u043e\u0443\u044b\u044c\u044e\u044f\u0439\u0445\u043c"
_STEM, _ENDING = 4, 3
_PART = 4  # letters that each part of a German compound has at least
_JOINTS = ("", "s", "es", "n", "en")  # linking elements between the parts of a German compound
_LEFT_OUT = "e"  # a last letter that the first part of a German compound loses, as Schule in Schulprojekt
_UMLAUT = re.compile("[äöü]")  # a word with ß alone would be an English one, as gross
_TYPED = str.maketrans({"ä": "ae", "ö": "oe", "ü": "ue", "ß": "ss"})  # German, where a keyboard has no umlauts
_OPENING = 3  # first letters of a phrase that are indexed, to skip most look-ups


class TranslationDictionary:
    """The dictionary from one language to English."""

    def __init__(self, code: str, text: str) -> None:
        """Parse the text of a dictionary file."""
        self._code = code
        self._exact: dict[str, str] = {}
        self._begun: dict[str, str] = {}
        self._shared: frozenset[str] = frozenset()
        for line in text.splitlines():
            english, colon, forms = line.partition(": ")
            if english == _SHARED:
                self._shared = frozenset(forms.split(", "))
            elif colon:
                self._add_entry("" if english == _DROPPED else english, forms)

    def tells(self, words: Sequence[str]) -> float:
        """Return how many words are in this language; shared with English they count half, and alone they count 0."""
        known = [self._weight_of(word) for word in words]
        return sum(known) if _OWN in known else 0.0

    def _weight_of(self, word: str) -> float:
        entry = word if word in self._exact else self._stem_of(word) + "*"
        if entry == "*":
            return 0.0
        return _ENGLISH_TOO if entry in self._shared else _OWN

    def written(self, text: str) -> str | None:
        """Return the English for an exact entry; None where there is none."""
        found = self._exact.get(text)
        return self._begun.get(text) if found is None else found

    def word(self, word: str) -> str | None:
        """Return the English for a word in any inflected form; None where it is not known."""
        if (found := self._exact.get(word)) is not None:
            return found
        begun = self._stem_of(word)
        if self._code == "de" and len(word) - len(begun) > _PART and (found := self._compound(word)) is not None:
            return found
        found = self._begun[begun] if begun else self._loosely_found(word)
        return word if found and self._borrows(word, found) else found

    def phrase(self, words: Sequence[str]) -> str | None:
        """Return the English for a phrase in any inflected form; None where it is not known."""
        if words[0][:_OPENING] not in self._openings:
            return None
        text = " ".join(words)
        if (found := self._exact.get(text)) is not None:
            return found
        begun = self._stem_of(text)
        if begun.count(" ") == len(words) - 1:
            return self._begun[begun]
        return self._loose.get(unaccented(text))

    @cached_property
    def _english(self) -> frozenset[str]:
        """The English words that entries are translated with."""
        words = (word for english in (*self._exact.values(), *self._begun.values()) for word in english.split())
        return frozenset(word for word in words if len(word) > _SHORTEST)

    @cached_property
    def longest(self) -> int:
        """The number of characters of the longest entry."""
        return max(map(len, (*self._exact, *self._begun)))

    @cached_property
    def most(self) -> int:
        """The number of words of the longest phrase."""
        return max(text.count(" ") for text in (*self._exact, *self._begun)) + 1

    def _loosely_found(self, word: str) -> str | None:
        bare = unaccented(word)
        found = self._loose.get(bare) or self._loose.get(loosely(word))
        return found or self._unaccented_stems.get(_longest_begun(bare, self._unaccented_stems))

    def _borrows(self, word: str, found: str) -> bool:
        """Tell whether a word is English already: else a "container" would be told as the count that is contar."""
        singular = word.removesuffix("s")
        return singular not in found and not self._english.isdisjoint((word, singular))

    def _add_entry(self, english: str, forms: str) -> None:
        said = forms.split(", ")
        if "'" in forms:
            said = [text.replace("'", "' ").strip() for text in said]
        if self._code == "de":
            said += [text.translate(_TYPED) for text in said if _UMLAUT.search(text)]
        exact, begun = self._exact, self._begun
        for text in said:
            if text[-1] == "*":
                begun.setdefault(text[:-1], english)
            else:
                exact.setdefault(text, english)

    def _stem_of(self, text: str) -> str:
        """Return the longest known stem at the beginning of a text; empty where there is none."""
        return _longest_begun(text, self._begun)

    def _compound(self, word: str) -> str | None:
        """Return the English for a German compound of known words, with the longest first part; None if unknown."""
        for end in range(len(word) - _PART, _PART - 1, -1):
            first = self._part(word[:end])
            second = self.word(word[end:]) if first else None
            if second is not None:
                return f"{first} {second}".strip()
        return None

    def _part(self, word: str) -> str | None:
        bare = (*(word.removesuffix(joint) for joint in _JOINTS if word.endswith(joint)), word + _LEFT_OUT)
        return next((found for part in bare if len(part) >= _PART and (found := self.written(part))), None)

    @cached_property
    def _openings(self) -> frozenset[str]:
        phrases = (text for text in (*self._exact, *self._begun) if " " in text)
        return frozenset(part.partition(" ")[0][:_OPENING] for text in phrases for part in (text, unaccented(text)))

    @cached_property
    def _unaccented_stems(self) -> dict[str, str]:
        """The English by stem without accents; not in German, where andere would be a change, Änderung."""
        stems = {unaccented(text): english for text, english in self._begun.items() if not text.isascii()}
        return {} if self._code == "de" else {stem: english for stem, english in stems.items() if len(stem) > _STEM}

    @cached_property
    def _loose(self) -> dict[str, str]:
        """The English by word without accents and endings, or by phrase without accents; the first of equal ones."""
        found: dict[str, str] = {}
        for text, english in self._exact.items():
            if english and len(text) > _SHORTEST:
                for key in _loose_keys(text):
                    found.setdefault(key, english)
        return found


def _longest_begun(text: str, stems: Mapping[str, str]) -> str:
    return next((text[:end] for end in range(len(text), _SHORTEST - 1, -1) if text[:end] in stems), "")


def _loose_keys(text: str) -> tuple[str, ...]:
    bare, stem = unaccented(text), loosely(text)
    if " " in text:
        return (bare,)
    # with more off, a stem is shared by what has nothing to do with it: comp is left of compañía, and of compose
    return (stem,) if len(bare) - len(stem) <= _ENDING else (bare, bare.removesuffix("s"))


def loosely(word: str) -> str:
    """Return a word without accents and endings, which most of its forms share."""
    bare = unaccented(word)
    return bare[:_STEM] + bare[_STEM:].rstrip(_ENDINGS)


def unaccented(word: str) -> str:
    """Return a word without its accents."""
    if word.isascii():
        return word
    return "".join(letter for letter in unicodedata.normalize("NFKD", word) if not unicodedata.combining(letter))


@cache
def dictionary(code: str) -> TranslationDictionary:
    """Return the dictionary of a language, read once."""
    return TranslationDictionary(code, (FOLDER / f"{code}.txt").read_text(encoding="utf-8"))


@cache
def dictionaries_digest() -> str:
    """Return a hash of all dictionaries, which changes whenever a translation may."""
    digest = hashlib.sha256(TRADITIONAL.encode())
    for file in sorted(FOLDER.glob("*.txt")):
        digest.update(file.read_bytes())
    return digest.hexdigest()
