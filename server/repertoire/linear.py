r"""Compiles expressions for text that strangers wrote: RE2 matches them in time linear in the text, whatever it says.

The standard library's `re` tries one way after the other, so that a text made for it takes quadratic time or worse.
RE2 runs an automaton instead; it has no lookaround and no backreferences, `\w`, `\d`, `\s` and `\b` are ASCII, and `$`
without `(?m)` is the very end. Where `re` stays, `tests/house/test_expressions.py` shows that it is linear too.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cached_property
from typing import Any, Protocol

import re2

# what `\w` and `\s` are to `re`
WORD = r"[\pL\pN_]"
SPACE = r"[\s\x0b\x1c-\x1f\x{85}\x{a0}\x{1680}\x{2000}-\x{200a}\x{2028}\x{2029}\x{202f}\x{205f}\x{3000}]"
_MEMORY = 64 << 20  # bytes for one automaton; with RE2's own 8 MB the largest ones here are started anew all the time


class Match(Protocol):
    """What a match tells: the same calls and the same meaning as those of `re.Match`."""

    def __getitem__(self, group: int | str) -> str | Any:
        """Return what a group matched; None where it took no part."""

    def group(self, group: int | str = 0, /) -> str | Any:
        """Return what a group matched; the whole where none is named."""

    def groups(self, default: Any = None) -> tuple[str | Any, ...]:
        """Return what each group matched."""

    def groupdict(self, default: Any = None) -> dict[str, str | Any]:
        """Return what each named group matched."""

    @property
    def string(self) -> str:
        """The text that was matched in."""

    def start(self, group: int = 0) -> int:
        """Return where a group begins."""

    def end(self, group: int = 0) -> int:
        """Return where a group ends."""


class Pattern:
    """An expression that RE2 matches; its calls are those of `re.Pattern`."""

    def __init__(self, pattern: str, *, verbose: bool = False, memory: int = _MEMORY) -> None:
        """Take RE2's syntax, to be compiled when first needed; `verbose` leaves out white space and comments."""
        self.pattern = _plain(pattern) if verbose else pattern
        self._memory = memory

    @cached_property
    def _re2(self) -> Any:
        # Not in the constructor: the long ones take 60 ms each, and a server's first answer needs few of them.
        options = re2.Options()
        options.max_mem = self._memory
        options.log_errors = False
        return re2.compile(self.pattern, options)

    def search(self, text: str) -> Match | None:
        """Return the first match, wherever it begins."""
        return next(self.finditer(text), None)

    def match(self, text: str) -> Match | None:
        """Return the match at the beginning."""
        return _first(self._re2.match, text)

    def fullmatch(self, text: str) -> Match | None:
        """Return the match of the whole."""
        return _first(self._re2.fullmatch, text)

    def finditer(self, text: str) -> Iterator[Match]:
        """Yield the matches, none of which overlap, from left to right."""
        try:
            yield from self._re2.finditer(text)
        except UnicodeEncodeError:
            yield from self._re2.finditer(_encodable(text))

    def findall(self, text: str) -> list[Any]:
        """Return what matched; the groups where there are any."""
        return list(self._re2.findall(_encodable(text)))

    def sub(self, new: str | Callable[[Match], str], text: str, count: int = 0) -> str:
        """Return the text with its matches replaced; all of them where count is 0."""
        return str(self._re2.sub(new, _encodable(text), count))

    def split(self, text: str, maxsplit: int = 0) -> list[Any]:
        """Return what stands between the matches, and their groups."""
        return list(self._re2.split(_encodable(text), maxsplit))


compile = Pattern  # noqa: A001 - as `re.compile` is called


def _first(find: Callable[[str], Match | None], text: str) -> Match | None:
    try:
        return find(text)
    except UnicodeEncodeError:
        return find(_encodable(text))


def _encodable(text: str) -> str:
    """Return a text of the same length without half characters, which JSON may hold and UTF-8 cannot."""
    if text.isascii():
        return text
    try:
        text.encode()
    except UnicodeEncodeError:
        return "".join("\ufffd" if "\ud800" <= character <= "\udfff" else character for character in text)
    return text


def _plain(pattern: str) -> str:
    """Return an expression without the white space and the comments that stand outside its classes."""
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
