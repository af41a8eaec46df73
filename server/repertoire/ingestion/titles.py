"""Edges between texts of knowledge: one whose words hold the other's title mentions it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from repertoire import linear
from repertoire.domain.component import MENTIONS, Edge
from repertoire.domain.text import split_words

_ASIDE = linear.compile(r"\s*\([^)]*\)")
_SHORT = 6  # a title of one word this short is as likely a word
_EVIDENCE = "title in the text"


@dataclass(frozen=True)
class Titled:
    """A text that others may mention by its title."""

    id: str
    title: str
    text: str


def title_mentions(texts: Sequence[Titled]) -> list[Edge]:
    """Return an edge from every text to each other text whose title it holds, what stands in parentheses left out."""
    by_title: dict[tuple[str, ...], list[str]] = {}
    for entry in texts:
        title = tuple(split_words(_ASIDE.sub("", entry.title)))
        if len(title) > 1 or (title and len(title[0]) > _SHORT):
            by_title.setdefault(title, []).append(entry.id)
    lengths: dict[str, set[int]] = {}
    for title in by_title:
        lengths.setdefault(title[0], set()).add(len(title))
    found = (
        Edge(entry.id, target, MENTIONS, evidence=_EVIDENCE)
        for entry in texts
        for title in dict.fromkeys(_held(split_words(entry.text), by_title, lengths))
        for target in by_title[title]
        if target != entry.id
    )
    return list(dict.fromkeys(found))


def _held(
    words: Sequence[str], titles: dict[tuple[str, ...], list[str]], lengths: dict[str, set[int]]
) -> Iterator[tuple[str, ...]]:
    for start, word in enumerate(words):
        for length in sorted(lengths.get(word, ())):
            run = tuple(words[start : start + length])
            if run in titles:
                yield run
