"""Finds mentions of products (technologies and vendors) in questions, component names and running text."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import NamedTuple

from repertoire.domain.product import LANGUAGE, Product

# A word, `.net`, or the end of a sentence, after which a capital does not show a name.
_TOKEN = re.compile(r"(?<![^\W_])\.net\b|[^\W_]+(?:[+#]+(?!\w))?|[.!?:](?=\s)|\n", re.IGNORECASE)
_CAPITAL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_VERSION = re.compile(r"(?<=[a-z]{3})[0-9]+$")


class Word(NamedTuple):
    """A word in lower case, whether it has a capital that no beginning of a sentence explains, and if it stands apart.

    A word stands apart from the one before it if a colon or the end of a sentence is between them: "next: app/models".
    """

    text: str
    capital: bool
    apart: bool = False


class ProductMention(NamedTuple):
    """A mention of a product: the words, and whether these are ordinary words too."""

    product: str
    ordinary: bool
    words: Sequence[Word]


_Phrases = Callable[[str, Product], Iterator[tuple[str, bool]]]
_Index = dict[str, list[tuple[tuple[str, ...], list[tuple[str, bool]]]]]


def words_of(text: str) -> list[Word]:
    """Return the words of a running text."""
    found = []
    before = "."
    for token in _TOKEN.findall(text):
        word = "dotnet" if token.lower() == ".net" else token
        if word[0].isalnum():
            begins = not before[0].isalnum()
            found.append(Word(word.lower(), not begins and word[0].isupper(), begins and before != "\n"))
        before = word
    return found


def name_words(name: str, is_whole: Callable[[str], bool] = lambda _word: False) -> list[Word]:
    """Return the words of an identifier, split at capitals, without version numbers at the end of those not whole."""
    words = [word.text for word in words_of(_CAPITAL.sub(" ", name).replace("_", " "))]
    return [Word(word if is_whole(word) else _VERSION.sub("", word), capital=False) for word in words]


class Products:
    """The table of known products, with look-ups of their mentions in texts."""

    def __init__(self, known: Mapping[str, Product]) -> None:
        self.known = known

    @cached_property
    def _by_name(self) -> _Index:
        return _index(self.known, _name_phrases)

    @cached_property
    def _by_question(self) -> _Index:
        return _index(self.known, _question_phrases)

    @cached_property
    def spelt_names(self) -> dict[str, frozenset[str]]:
        """The names of one word, by their first letter, that are no everyday words: a slip in one can be told."""
        every = {
            one
            for name, product in self.known.items()
            for one in (name, *product.also)
            if one.isascii() and one.isalpha() and one not in product.ordinary
        }
        return {first: frozenset(one for one in every if one[0] == first) for first in {one[0] for one in every}}

    def index(self) -> None:
        """Build the look-ups now, as the first of the methods below does otherwise."""
        _ = self._by_name, self._by_question, self.spelt_names

    def in_question(self, text: str, known: Iterable[str] = ()) -> frozenset[str]:
        """Return the products that a question names, with those in `known` and all that these imply."""
        words = words_of(text)
        named = {found.product for found in _find(words, self._by_question) if not found.ordinary or _capital(found)}
        return self.implied(named.union(name for name in known if name in self.known))

    def in_name(self, words: Sequence[Word]) -> Iterator[ProductMention]:
        """Yield the product mentions among the words of a name, even if they are ordinary words."""
        return _find(words, self._by_name)

    def name_words(self, name: str) -> list[Word]:
        """Return the words of an identifier; a number that belongs to a product's name stays (Auth0)."""
        return name_words(name, self.has_word)

    def in_text(self, text: str) -> frozenset[str]:
        """Return the products that running text mentions; an ordinary word counts only with a capital."""
        return frozenset(
            found.product for found in self.in_name(words_of(text)) if not found.ordinary or _capital(found)
        )

    def has_word(self, word: str) -> bool:
        """Tell whether a product is known by this single word."""
        return any(len(phrase) == 1 for phrase, _ in self._by_name.get(word, ()))

    def implied(self, names: Iterable[str]) -> frozenset[str]:
        """Return these products with all products that they imply, directly or not."""
        found: set[str] = set()
        left = list(names)
        while left:
            name = left.pop()
            if name not in found:
                found.add(name)
                left.extend(self.known[name].implies)
        return frozenset(found)

    def languages(self, name: str) -> frozenset[str]:
        """Return the programming languages that a product is or implies, as Django implies Python."""
        return frozenset(one for one in self.implied((name,)) if self.known[one].kind == LANGUAGE)

    def without_implied(self, names: frozenset[str]) -> frozenset[str]:
        """Return these products without those that another one implies, as Django implies Python."""
        beyond = {name: self.implied(self.known[name].implies) for name in names}
        return frozenset(
            name for name in names if not any(name in beyond[other] and other not in beyond[name] for other in names)
        )


def _name_phrases(name: str, product: Product) -> Iterator[tuple[str, bool]]:
    for phrase in (name, name.replace("-", ""), *product.also):
        yield phrase, phrase in product.ordinary


def _question_phrases(name: str, product: Product) -> Iterator[tuple[str, bool]]:
    if product.asked:
        yield from ((phrase, False) for phrase in product.asked)
        return
    yield from _name_phrases(name, product)
    yield from ((phrase, False) for phrase in product.told_by)


def _index(known: Mapping[str, Product], phrases_of: _Phrases) -> _Index:
    phrases: dict[tuple[str, ...], dict[str, bool]] = {}
    for name, product in known.items():
        for phrase, ordinary in phrases_of(name, product):
            named = phrases.setdefault(tuple(word.text for word in words_of(phrase)), {})
            named[name] = named.get(name, True) and ordinary
    index: _Index = {}
    for words in sorted(phrases, key=len, reverse=True):
        index.setdefault(words[0], []).append((words, list(phrases[words].items())))
    return index


def _find(words: Sequence[Word], index: _Index) -> Iterator[ProductMention]:
    """Yield the product mentions among words; the longest phrase wins, if no word of it stands apart."""
    at = 0
    while at < len(words):
        step = 1
        for phrase, named in index.get(words[at].text, ()):
            here = words[at : at + len(phrase)]
            if tuple(word.text for word in here) == phrase and not any(word.apart for word in here[1:]):
                yield from (ProductMention(product, ordinary, here) for product, ordinary in named)
                step = len(phrase)
                break
        at += step


def _capital(found: ProductMention) -> bool:
    return any(word.capital for word in found.words)
