"""Compares the texts of two copies: how many lines were added and removed, and which sections."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher

from repertoire import linear
from repertoire.domain.text import clean_line

_LINES = 1_500  # lines of each text that are compared: more take seconds
_SECTIONS = 4  # sections that are named on each side
_NAMED = 60
_HEADING = linear.compile(r"^ {0,3}#{1,4} +(.+?)[ #]*$")
_WORD = re.compile(r"\w+")


@dataclass(frozen=True)
class Difference:
    """The lines and sections that the second of two texts adds to the first, or leaves out."""

    added: int
    removed: int
    sections_added: tuple[str, ...] = ()
    sections_removed: tuple[str, ...] = ()
    described: bool = False  # the descriptions differ too


def difference(first: tuple[str, str], second: tuple[str, str]) -> Difference:
    """Compare two texts, each (description, body); layout and empty lines do not count."""
    ours, theirs = _lines(first[1]), _lines(second[1])
    matcher = SequenceMatcher(None, ours, theirs, autojunk=False)
    changed = [step for step in matcher.get_opcodes() if step[0] != "equal"]
    before, after = _sections(first[1]), _sections(second[1])
    return Difference(
        added=sum(end - start for _, _, _, start, end in changed),
        removed=sum(end - start for _, start, end, _, _ in changed),
        sections_added=_only(after, before),
        sections_removed=_only(before, after),
        described=first[0].split() != second[0].split(),
    )


def difference_text(found: Difference) -> str:
    """Return a difference in words, on one line, as seen from the first text."""
    parts = []
    if found.added or found.removed:
        parts.append(f"lines: {found.added} more, {found.removed} less")
    if found.sections_added:
        parts.append(f"only there: {', '.join(found.sections_added)}")
    if found.sections_removed:
        parts.append(f"only here: {', '.join(found.sections_removed)}")
    if found.described:
        parts.append("another description")
    return "; ".join(parts) or "the text is the same"


def _lines(body: str) -> list[str]:
    return [line for text in body.splitlines() if (line := " ".join(text.split()))][:_LINES]


def _sections(body: str) -> list[str]:
    return [match.group(1) for line in body.splitlines()[: 4 * _LINES] if (match := _HEADING.match(line))]


def _only(there: Sequence[str], here: Sequence[str]) -> tuple[str, ...]:
    known = {_plain(section) for section in here}
    found = dict.fromkeys(clean_line(section, _NAMED) for section in there if _plain(section) not in known)
    more = len(found) - _SECTIONS
    return (*list(found)[:_SECTIONS], *([f"{more} more sections"] if more > 0 else []))


def _plain(section: str) -> str:
    return " ".join(_WORD.findall(section.lower()))
