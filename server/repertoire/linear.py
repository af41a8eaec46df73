r"""Compiles regular expressions for untrusted text with RE2, which matches in time linear in the length of the text.

The standard library's `re` backtracks, so that a hostile text can take quadratic time or worse.
RE2 runs an automaton instead; it has no lookaround and no backreferences, `\w`, `\d`, `\s` and `\b` are ASCII, and `$`
without `(?m)` is the very end. Where `re` stays, `tests/house/test_expressions.py` shows that it is linear too.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cached_property
from typing import Any, Protocol

import re2

# the Unicode classes that `\w` and `\s` mean in `re`
WORD = r"[\pL\pN_]"
SPACE = r"[\s\x0b\x1c-\x1f\x{85}\x{a0}\x{1680}\x{2000}-\x{200a}\x{2028}\x{2029}\x{202f}\x{205f}\x{3000}]"
_MEMORY = 64 << 20  # bytes for one automaton; with RE2's default of 8 MB, the largest ones are rebuilt again and again


class LinearMatch(Protocol):
    """A match, with the methods of `re.Match`."""

    def __getitem__(self, group: int | str) -> str | Any:
        """Return the text of a group, or None if the group did not match."""

    def group(self, group: int | str = 0, /) -> str | Any:
        """Return the text of a group, by default of the whole match."""

    def groups(self) -> tuple[str | Any, ...]:
        """Return the text of every group."""

    def groupdict(self) -> dict[str, str | Any]:
        """Return the text of every named group."""

    @property
    def string(self) -> str:
        """Return the searched text."""

    def start(self, group: int = 0) -> int:
        """Return the start position of a group."""

    def end(self, group: int = 0) -> int:
        """Return the end position of a group."""


class LinearPattern:
    """A regular expression matched by RE2, with the methods of `re.Pattern`."""

    def __init__(self, pattern: str, *, verbose: bool = False, memory: int = _MEMORY) -> None:
        """Take an expression in RE2's syntax, compiled at first use; `verbose` ignores white space and comments."""
        self._given = pattern
        self._verbose = verbose
        self._memory = memory

    @cached_property
    def pattern(self) -> str:
        """The expression as RE2 takes it."""
        return _plain(self._given) if self._verbose else self._given

    @cached_property
    def _re2(self) -> Any:
        # Compiled at first use: long expressions take 60 ms each, and a server's first answer needs few of them.
        options = re2.Options()
        options.max_mem = self._memory
        options.log_errors = False
        return re2.compile(self.pattern, options)

    def search(self, text: str) -> LinearMatch | None:
        """Return the first match at any position."""
        return next(self.finditer(text), None)

    def match(self, text: str) -> LinearMatch | None:
        """Return the match at the beginning of the text."""
        return _first(self._re2.match, text)

    def fullmatch(self, text: str) -> LinearMatch | None:
        """Return the match of the whole text."""
        return _first(self._re2.fullmatch, text)

    def finditer(self, text: str) -> Iterator[LinearMatch]:
        """Yield the matches, which do not overlap, from left to right."""
        try:
            yield from self._re2.finditer(text)
        except UnicodeEncodeError:
            yield from self._re2.finditer(_encodable(text))

    def findall(self, text: str) -> list[Any]:
        """Return the texts of all matches, or of their groups if the expression has any."""
        return list(self._re2.findall(_encodable(text)))

    def sub(self, new: str | Callable[[LinearMatch], str], text: str, count: int = 0) -> str:
        """Return the text with `count` matches replaced, or all if count is 0."""
        return str(self._re2.sub(new, _encodable(text), count))

    def split(self, text: str) -> list[Any]:
        """Return the texts between the matches, and the groups."""
        return list(self._re2.split(_encodable(text)))


compile = LinearPattern  # noqa: A001 - named like `re.compile`


def _first(find: Callable[[str], LinearMatch | None], text: str) -> LinearMatch | None:
    try:
        return find(text)
    except UnicodeEncodeError:
        return find(_encodable(text))


def _encodable(text: str) -> str:
    """Return a text of the same length without lone surrogates, which JSON can hold and UTF-8 cannot encode."""
    if text.isascii():
        return text
    try:
        text.encode()
    except UnicodeEncodeError:
        return "".join("\ufffd" if "\ud800" <= character <= "\udfff" else character for character in text)
    return text


def _plain(pattern: str) -> str:
    """Return an expression without the white space and comments outside its character classes."""
    kept: list[str] = []
    inside, place = False, 0
    while place < len(pattern):
        character = pattern[place]
        step = 2 if character == "\\" else 1
        if character == "#" and not inside:
            step = (pattern + "\n").index("\n", place) - place
        elif inside or not character.isspace():
            kept.append(pattern[place : place + step])
        inside = character == "[" or (inside and character != "]")
        place += step
    return "".join(kept)
