"""Leaves the names that most entries have out of a question: they tell none apart, and draw its vector to them."""

from __future__ import annotations

import re
from collections.abc import Mapping

from repertoire.domain.text import content_words

# Share of the entries from which on a name is that of all of them, and entries from which on that can be told: any
# share from .3 to .9 finds the same sessions of conversations (bench/projects).
_COMMON, _ENOUGH = 0.7, 10
_NAME = re.compile(r"\b[^\W\d_a-z][^\W_]*(?:['\u2019]s\b)?")
_OWNER = re.compile(r"['\u2019]s$")


def names_in(question: str) -> list[str]:
    """Return the capitalised words of a question as they are searched, without stop words."""
    return [word for name in _NAME.findall(question) if (word := _searched(name))]


def without_common_names(question: str, frequency: Mapping[str, int], entries: int) -> str:
    """Return a question without its names that most entries have; the whole question if nothing else is asked."""
    if entries < _ENOUGH:
        return question

    def shortened(found: re.Match[str]) -> str:
        return " " if frequency.get(_searched(found[0]), 0) >= _COMMON * entries else found[0]

    left = " ".join(_NAME.sub(shortened, question).split())
    return left if content_words(left) else question


def _searched(name: str) -> str:
    """Return a name as one word that is searched; empty for a stop word and for what are several words."""
    words = content_words(_OWNER.sub("", name))
    return words[0] if len(words) == 1 else ""
