"""Strings made to be slow for an expression: its repetitions pumped, between what leads to them and what fails."""

from __future__ import annotations

import random
import re
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

if sys.version_info >= (3, 11):
    from re import _constants as sre
    from re import _parser as parser
else:
    import sre_constants as sre
    import sre_parse as parser

PROBES = "aA0_-./:'\"` \n\t~<>([{*#|=,$@&!;\\%+^\u00e9\u4e2desSxzfT)]}?"
LONG = 30  # times; what repeats less often is bounded by itself
REPEATS = tuple(getattr(sre, name) for name in ("MAX_REPEAT", "MIN_REPEAT", "POSSESSIVE_REPEAT") if hasattr(sre, name))
ONE = (sre.LITERAL, sre.NOT_LITERAL, sre.ANY, sre.IN)
CATEGORIES = {
    sre.CATEGORY_DIGIT: str.isdigit,
    sre.CATEGORY_NOT_DIGIT: lambda c: not c.isdigit(),
    sre.CATEGORY_SPACE: str.isspace,
    sre.CATEGORY_NOT_SPACE: lambda c: not c.isspace(),
    sre.CATEGORY_WORD: lambda c: c.isalnum() or c == "_",
    sre.CATEGORY_NOT_WORD: lambda c: not (c.isalnum() or c == "_"),
}


@dataclass(frozen=True, order=True)
class Hostile:
    """One text that is hostile at any length: what leads, what is repeated, and what ends it."""

    lead: str
    pump: str
    end: str

    def text(self, length: int) -> str:
        """Return the text, of about a length."""
        times = max(1, (length - len(self.lead)) // len(self.pump))
        return (self.lead + self.pump * times + self.end)[: length + len(self.lead)]


def hostile(pattern: str, flags: int) -> list[Hostile]:
    """Return the texts on which a careless expression takes long; the same ones each time."""
    try:
        tree = parser.parse(_as_re(pattern), flags & ~re.DEBUG)
    except re.error:  # RE2's own syntax: plain floods have to do
        units = {("", probe, "") for probe in PROBES}
    else:
        maker = _Maker(flags | tree.state.flags)
        units = set(maker.units(list(tree)))
    return sorted(Hostile(*unit) for unit in units if unit[1])


def _as_re(pattern: str) -> str:
    for mine, theirs in ((r"\z", r"\Z"), (r"\pL\pN", r"\w"), (r"\pL", "a-zA-Z"), (r"\pN", "0-9"), (r"\pM", r"\u0300")):
        pattern = pattern.replace(mine, theirs)
    return re.sub(r"\\x\{([0-9a-f]+)\}", lambda found: f"\\U{int(found[1], 16):08x}", pattern)


class _Maker:
    """Makes lead, pump and end of hostile strings from an expression's syntax tree."""

    def __init__(self, flags: int) -> None:
        self._flags = flags
        self._chance = random.Random(1)

    def units(self, tree: list[Any]) -> Iterator[tuple[str, str, str]]:
        for lead, body, rest in self._repeats(tree, ""):
            for pump in self._pumps(list(body)):
                yield lead, pump, ""
                yield lead, pump, "\x01"
                yield "x" + lead, pump, "\x01"
                yield "", lead + pump, ""
                yield "", lead + pump * 3, "\x01"
                after = self._sample(rest)
                if after:
                    yield lead, pump + after[:-1], ""
                    yield "", lead + pump + after[:-1], ""
            if lead:
                yield "", lead, ""
        for _ in range(3):
            whole = self._sample(tree)
            yield "", whole, ""
            yield "", whole[:-1], ""
        yield from (("", flood, "") for flood in (" ", "\n", "a", "~", '\\"', "/*//\n", "x ", "a-"))

    def _repeats(self, tree: Iterable[Any], lead: str) -> Iterator[tuple[str, Any, list[Any]]]:
        tree = list(tree)
        for place, (kind, value) in enumerate(tree):
            if kind in REPEATS:
                _, most, body = value
                if most >= LONG:
                    yield lead, body, tree[place + 1 :]
            for inner in _inner(kind, value):
                yield from self._repeats(inner, lead)
            lead += self._sample([(kind, value)])

    def _pumps(self, body: list[Any]) -> list[str]:
        if len(body) == 1 and body[0][0] in ONE:
            fitting = self._one(*body[0])
            first = [character for character in " \n\ta0.-" if character in fitting]
            return [*first, *(character for character in fitting if character not in first)][:7]
        return sorted({self._sample(body) for _ in range(12)} - {""})[:8]

    def _one(self, kind: Any, value: Any) -> list[str]:
        if kind is sre.LITERAL:
            return [chr(value)]
        if kind is sre.ANY:
            return [c for c in PROBES if c != "\n" or self._flags & re.DOTALL]
        if kind is sre.NOT_LITERAL:
            return [c for c in PROBES if ord(c) != value]
        found = [c for c in PROBES if _holds(value, c)]
        return found or [chr(v if k is sre.LITERAL else v[0]) for k, v in value if k in (sre.LITERAL, sre.RANGE)]

    def _sample(self, tree: Iterable[Any]) -> str:
        said = ""
        for kind, value in tree:
            if kind in ONE:
                said += self._chance.choice(self._one(kind, value) or [""])
            elif kind in REPEATS:
                least, most, body = value
                times = max(least, 1 if most and self._chance.random() < 0.4 else 0)
                said += "".join(self._sample(body) for _ in range(min(times, 40)))
            elif kind is sre.BRANCH:
                said += self._sample(self._chance.choice(value[1]))
            elif kind is sre.SUBPATTERN:
                said += self._sample(value[3])
            elif kind is sre.GROUPREF:
                said += '"'
        return said


def _inner(kind: Any, value: Any) -> list[Any]:
    """Return the expressions within one."""
    if kind in REPEATS:
        return [value[2]]
    if kind is sre.BRANCH:
        return list(value[1])
    if kind is sre.SUBPATTERN:
        return [value[3]]
    return [value[1]] if kind in (sre.ASSERT, sre.ASSERT_NOT) else []


def _holds(members: list[Any], character: str) -> bool:
    held = refused = False
    for kind, value in members:
        if kind is sre.NEGATE:
            refused = True
        elif kind is sre.LITERAL:
            held |= ord(character) == value
        elif kind is sre.RANGE:
            held |= value[0] <= ord(character) <= value[1]
        elif kind is sre.CATEGORY:
            held |= CATEGORIES[value](character)
    return held != refused
