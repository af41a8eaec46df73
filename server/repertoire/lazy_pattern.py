"""Compiles long regular expressions of the standard library's `re` at first use, since most processes need few of them.

`re` takes up to 70 ms for one, while `repertoire.linear`, which compiles late too, has no lookaround.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cached_property


class LazyPattern:
    """A regular expression with the methods of `re.Pattern` that its users call."""

    def __init__(self, pattern: str, flags: int = 0) -> None:
        """Take an expression of `re`; one that is wrong raises `re.error` at first use."""
        self.pattern = pattern
        self.flags = flags

    @cached_property
    def _compiled(self) -> re.Pattern[str]:
        return re.compile(self.pattern, self.flags)

    def match(self, text: str) -> re.Match[str] | None:
        """Return the match at the beginning of the text."""
        return self._compiled.match(text)

    def fullmatch(self, text: str) -> re.Match[str] | None:
        """Return the match of the whole text."""
        return self._compiled.fullmatch(text)

    def finditer(self, text: str) -> Iterator[re.Match[str]]:
        """Yield the matches, which do not overlap, from left to right."""
        return self._compiled.finditer(text)
