"""Splits the text of a section into list items, table rows and paragraphs, and those into sentences, by position."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from repertoire import linear

ITEM, ROW, PROSE = "item", "row", "prose"
_FENCE = linear.compile(r"^[ \t>]{0,12}(`{3,}|~{3,})")
_ITEM = linear.compile(r"^[ \t>]{0,24}(?:[-*+]|[0-9]{1,4}[.)])[ \t]+")
_BREAK = linear.compile(
    r"^[ \t>]{0,24}(?:#{1,6}[ \t].*|[-*_= \t]{3,}|<[!/A-Za-z][^\n]*|\[[^\]\n]{1,200}\]:[^\n]*|:::.*)?$"
)
_ENDS = linear.compile(r"""[.!?][)"'*_`\]]{0,4}[ \t\n]+""")
_ABBREVIATED = (
    "e.g.",
    "i.e.",
    "etc.",
    "vs.",
    "cf.",
    "no.",
    "approx.",
    "resp.",
    "incl.",
    "a.k.a.",
    "fig.",
    "dr.",
    "mr.",
)


class Unit(NamedTuple):
    """A list item, a table row or a paragraph: its sort, and the range of its characters in the section's text."""

    sort: str
    begin: int
    end: int


def units_of(text: str) -> Iterator[Unit]:
    """Yield the list items, table rows and paragraphs of a section in their order, without headings and code."""
    fence, open_unit, at, blank = "", None, 0, True
    for line in text.splitlines(keepends=True):
        begin, at = at, at + len(line)
        mark = _FENCE.match(line)
        sort = "" if fence or mark or _BREAK.match(line.rstrip("\r\n")) else _sort_of(line, open_unit, blank=blank)
        if mark and not fence:
            fence = mark[1]
        elif mark and mark[1][0] == fence[0] and len(mark[1]) >= len(fence):
            fence = ""
        if open_unit is not None and (not sort or sort != open_unit.sort or sort == ROW or _ITEM.match(line)):
            yield open_unit
            open_unit = None
        if sort:
            start = open_unit.begin if open_unit is not None else begin
            open_unit = Unit(sort, start, begin + len(line.rstrip()))
        blank = not line.strip()
    if open_unit is not None:
        yield open_unit


def _sort_of(line: str, before: Unit | None, *, blank: bool) -> str:
    """Return what a line belongs to; nothing for indented code."""
    if _ITEM.match(line):
        return ITEM
    if line.lstrip(" \t>").startswith("|"):
        return ROW
    if before is not None and before.sort in (ITEM, PROSE):
        return before.sort
    return "" if blank and line.startswith(("    ", "\t")) else PROSE


def sentences_of(text: str, unit: Unit) -> Iterator[tuple[int, int]]:
    """Yield the ranges of the sentences of a unit in the section's text, without the mark of a list item."""
    part = text[unit.begin : unit.end]
    mark = _ITEM.match(part)
    start = mark.end() if mark else 0
    for match in _ENDS.finditer(part):
        end, after = match.end(), part[match.end() : match.end() + 1]
        word = part[: match.start() + 1].rpartition(" ")[2].lower().lstrip("(*_`")
        if match.start() < start or after.islower() or word in _ABBREVIATED:
            continue
        yield from _range(part, unit.begin, start, end)
        start = end
    yield from _range(part, unit.begin, start, len(part))


def _range(part: str, offset: int, start: int, end: int) -> Iterator[tuple[int, int]]:
    kept = part[start:end]
    begin = start + len(kept) - len(kept.lstrip(" \t\n>"))
    end = start + len(kept.rstrip())
    if begin < end:
        yield offset + begin, offset + end
