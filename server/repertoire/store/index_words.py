"""Splits a text for the full-text index into the words that it is found by: its own, and those of its English."""

from __future__ import annotations

from collections.abc import Callable

from repertoire.domain.text import index_text, with_pairs

English = Callable[[str], str]  # returns the English of a text, or nothing if it is English already


def untranslated(_text: str) -> str:
    """Return nothing: no text is translated."""
    return ""


def words_in(text: str, english: English = untranslated) -> str:
    """Return the words of a text and of its English, with the pairs of letters of a script that parts no words."""
    return index_text(with_pairs(f"{text}\n{english(text)}"))
