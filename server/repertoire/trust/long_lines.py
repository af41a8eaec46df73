"""Parts long lines into windows that overlap, so that nothing on a line escapes the checks for standing far behind."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

LONGEST = 2_000  # characters of a line, or of a window of one, that are judged as one text
_STEP = 1_000  # from one window to the next: what takes up less than the rest is whole in one of them
_KEPT = 200  # characters that are left at each end of padding, more than the checks for pushed and encoded text need
# Padding within a command would push its parts into different windows: runs of blanks, and words that no one reads.
_PADDING = re.compile(r"(?<![^\S\n])[^\S\n]{400,}|(?<![\w+/=-])[\w+/=-]{400,}")
# What makes a line a comment or an entry makes its windows one. Without it a window begins with dots alone, or an
# author could place a mark of a comment where one begins.
_MARK = re.compile(r"[^\S\n]{0,40}(?:#(?!!)|//|[-*+>|]|\[//\]: #|\[comment\]: )[^\S\n]?")


def in_windows(lines: Sequence[str]) -> tuple[list[str], Sequence[int]]:
    """Return the lines with windows in place of long ones, and for each the number of its line, from 1."""
    if max(map(len, lines), default=0) <= LONGEST:
        return list(lines), range(1, len(lines) + 1)
    found = [(window, number) for number, line in enumerate(lines, start=1) for window in _windows(line)]
    return [window for window, _ in found], [number for _, number in found]


def _windows(line: str) -> Iterator[str]:
    if len(line) <= LONGEST:
        yield line
        return
    line = _PADDING.sub(lambda run: run.group()[:_KEPT] + run.group()[-_KEPT:], line)
    yield line[:LONGEST]
    mark = found.group() if (found := _MARK.match(line)) else ""
    begins = f"{mark}\u2026 "
    length = LONGEST - len(begins)
    for start in range(_STEP, len(line) - (LONGEST - _STEP), _STEP):
        yield begins + line[start : start + length]
