"""Reads a misspelt name of a technology in a question as it is meant, where no other word can be meant."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Mapping
from typing import NamedTuple

from repertoire.ports import GraphReader
from repertoire.retrieval.language import language_of
from repertoire.retrieval.products import Products

SPELLING = "spelling"
_MOST = 2_000  # characters that are read; the rest of a longer prompt is mostly pasted text
_SWAPPED, _SLIPPED = 6, 8  # letters of a name from which on two swapped ones are seen, and one wrong, lost or too many
# A whole word of running text: no part of a path, an identifier or an address, no camelCase, no abbreviation.
_WORD = re.compile(rf"(?<![\w./@#:-])[A-Za-z][a-z]{{{_SWAPPED - 1},}}(?![\w/@#:-]|\.\w)")
# English words that are a slip away from a name: all of 42,000 words of texts and of the model's vocabulary.
_ENGLISH = frozenset("contest election expresses pedantic perfect rustling solidify visions".split())


class Spelling(NamedTuple):
    """A question with the names that were read in it: each as it is written, and as it is meant."""

    text: str
    read: tuple[tuple[str, str], ...]

    @property
    def note(self) -> str:
        """The sentence that tells the reader of an answer what was read otherwise than it is written."""
        return "read " + ", ".join(f"{word} as {name}" for word, name in self.read)


def spelt(text: str, products: Products, graph: GraphReader, named: Callable[[str], Iterable[str]]) -> Spelling | None:
    """Return a question with its misspelt names of products as they are meant; None if there are none.

    A word is one if no component holds it, it names no capability, and exactly one name differs from it by two swapped
    letters, or, of a longer name, by one letter within it: an ending is grammar ("stripes", "docked").
    """
    words = dict.fromkeys(_WORD.findall(text[:_MOST]))
    near = {word: found for word in words if len(found := {*_near(word.lower(), products.spelt_names)}) == 1}
    near = {word: found for word, found in near.items() if not any(named(word))}
    if not near or language_of(text):
        return None
    held = graph.document_frequency([word.lower() for word in near])
    read = {word: name for word, (name,) in near.items() if not held[word.lower()]}
    if not read:
        return None
    return Spelling(_WORD.sub(lambda word: read.get(word[0], word[0]), text), tuple(read.items()))


def _near(word: str, names: Mapping[str, Collection[str]]) -> Iterable[str]:
    """Yield the names that a word misspells; none if it is one itself."""
    among = names.get(word[0], ())
    if word not in among and word not in _ENGLISH:
        last = word[-1]  # no slip loses it, but it may be the last but one: a long prompt has 1,200 pairs to compare
        alike = (name for name in among if last in name[-2:] and abs(len(name) - len(word)) < 2)
        yield from (name for name in alike if _slip(word, name))


def _slip(word: str, name: str) -> bool:
    """Tell whether a word is a name but for one slip."""
    least = min(len(word), len(name))
    begin = next((at for at in range(least) if word[at] != name[at]), least)
    end = next((at for at in range(least - begin) if word[-1 - at] != name[-1 - at]), least - begin)
    said, meant = word[begin : len(word) - end], name[begin : len(name) - end]
    if len(said) == len(meant) == 2:
        return said == meant[::-1]
    return len(name) >= _SLIPPED and end > 0 and len(said) <= 1 and len(meant) <= 1
