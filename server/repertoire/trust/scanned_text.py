"""Parses a text for checks: the place of each line (run, shell, code, prose, comment) and the words before it."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

from repertoire.trust.long_lines import in_windows

RUN, SHELL, CODE, PROSE, COMMENT = "run", "shell", "code", "prose", "comment"
SCRIPT, MARKDOWN = "script", "markdown"

_SCRIPTS = (
    *(".sh", ".bash", ".zsh", ".fish", ".ps1", ".psm1", ".bat", ".cmd", ".py", ".js", ".mjs", ".cjs", ".ts"),
    *(".rb", ".pl", ".php", ".lua", ".applescript"),
)
_SHELLS = frozenset(
    "bash sh shell zsh fish console terminal powershell pwsh ps1 ps cmd bat batch shell-session".split()
)
_FENCE = re.compile(r"\s*(?:[-*>]\s+)?(`{3,}|~{3,})\s*([^\s`{]*)")
_HEADING = re.compile(r"#{1,6}\s+\S")
_COMMAND_LINE = re.compile(
    r"\s*(?:(?:\$ |> |PS> |sudo |#!)\s*)?(?:curl|wget|rm|dd|cat|echo|bash|sh|git|npm|npx|pip|nc|chmod|eval|base64"
    r"|python3?|env|/bin/(?:ba|z)?sh|printenv|tar|cp|export|iwr|irm|iex|powershell|mkfs\S*|scp|cd|sudo|apt|brew)\b"
)
_ABOVE = 2  # lines above a line in the same block that may introduce it
_HIGHEST = 200  # lines above a block that are searched for prose and a heading


@dataclass(frozen=True)
class Line:
    """One line, its place, and its introduction: the prose above it and its heading."""

    number: int  # from 1
    text: str
    place: str
    introduced: str = ""


_LANGUAGES = (".py", ".js", ".mjs", ".cjs", ".ts", ".rb", ".pl", ".php", ".lua")
_RUN_BY = re.compile(r"#![^\n]*\b(?:python|node|ruby|perl|php|deno|bun)")


def is_script(path: str, text: str = "") -> bool:
    """Tell by its name or first line whether a file is a script."""
    return path.lower().endswith(_SCRIPTS) or text.startswith("#!")


class ScannedText:
    """One text with its lines, a long one as several; their places are computed only when a check asks for them."""

    def __init__(self, text: str, *, kind: str = MARKDOWN, path: str = "") -> None:
        self.whole = text.split("\n")
        self.lines, self.numbers = in_windows(self.whole)
        self.text = text if len(self.lines) == len(self.whole) else "\n".join(self.lines)
        self.kind = kind
        self.path = path
        self.teaches: bool | None = None  # whether it teaches about attacks; None until a check asks
        self.believed = True  # False for a text with hidden orders, whose context must not excuse a match

    @cached_property
    def is_program(self) -> bool:
        """Whether it is a program in a language such as Python, in which commands are strings, and no shell script."""
        return self.kind == SCRIPT and (self.path.lower().endswith(_LANGUAGES) or _RUN_BY.match(self.text) is not None)

    @cached_property
    def lower(self) -> str:
        """The text in lower case, in which needles are searched."""
        return self.text.lower()

    @cached_property
    def fenced(self) -> str:
        """The lower-case text inside code fences; all of the text if its fences are not clear."""
        low = self.lower
        marks = low.count("```")
        if self.kind == SCRIPT or "~~~" in low or marks != low.count("\n```") + low.startswith("```") or marks % 2:
            return low
        return "\n".join(low.split("```")[1::2])

    def numbers_of(self, needle: str) -> Iterator[int]:
        """Yield the index of each line that holds a lower-case needle."""
        at, last = self.lower.find(needle), -1
        while at >= 0:
            index = bisect_right(self._ends, at)
            if index != last:
                yield index
            last = index
            at = self.lower.find(needle, at + len(needle))

    def line(self, index: int) -> Line:
        """Return a line with its place and introduction."""
        place = RUN if self.kind == SCRIPT else self._places[index]
        return Line(self.numbers[index], self.lines[index], place, self._introduction(index, place))

    def following(self, index: int, count: int) -> str:
        """Return a line and the next lines in the same place, up to `count` lines, as one text."""
        own = RUN if self.kind == SCRIPT else self._places[index]
        found, at = [self.lines[index]], self.after(index)
        while len(found) < count and at < len(self.lines) and (self.kind == SCRIPT or self._places[at] == own):
            found.append(self.lines[at])
            at = self.after(at)
        return "\n".join(found)

    def above(self, number: int, count: int) -> list[str]:
        """Return the lines above the line with this number, `count` at most."""
        first = bisect_left(self.numbers, number)
        return self.lines[max(0, first - count) : first]

    def after(self, index: int) -> int:
        """Return the index of the next line, past the other windows of this one."""
        return bisect_right(self.numbers, self.numbers[index])

    def blocks(self) -> Iterator[tuple[int, str, str]]:
        """Yield for every fenced block the index of its first line, its language and its text."""
        start, language = -1, ""
        for index, place in enumerate(self._places):
            mark = _FENCE.match(self.lines[index]) if "```" in self.lines[index] or "~~~" in self.lines[index] else None
            if start < 0 and mark is not None and place == PROSE:
                start, language = index + 1, mark.group(2).lower()
            elif start >= 0 and mark is not None and not mark.group(2):
                yield start, language, "\n".join(self.lines[start:index])
                start = -1

    @cached_property
    def about(self) -> str:
        """The beginning and all headings of the text in lower case, which say its topic."""
        headings = (line for line in self.lines if line.startswith("#"))
        return "\n".join([self.text[:600], *headings])[:4_000].lower()

    @cached_property
    def _ends(self) -> list[int]:
        ends, at = [], -1
        low = self.lower
        while (at := low.find("\n", at + 1)) >= 0:
            ends.append(at)
        return ends

    @cached_property
    def _places(self) -> list[str]:
        places: list[str] = []
        fence, inside, commented = "", PROSE, False
        for index, line in enumerate(self.lines):
            mark = _FENCE.match(line) if "```" in line or "~~~" in line else None
            if fence:
                places.append(inside)
                if mark is not None and mark.group(1).startswith(fence) and not mark.group(2):
                    fence = ""
            elif mark is not None:
                fence, inside = mark.group(1), self._fenced(mark.group(2), index)
                places.append(PROSE)
            else:
                opened = "<!--" in line
                places.append(
                    COMMENT if commented or line.lstrip().startswith(("<!--", "[//]: #", "[comment]: ")) else PROSE
                )
                if opened or commented:
                    commented = line.rfind("-->") < line.rfind("<!--") if opened else "-->" not in line
        return places

    def _fenced(self, language: str, index: int) -> str:
        language = language.lower()
        if language.startswith("!"):  # Claude Code runs such a block when it loads the file
            return RUN
        if language in _SHELLS:
            return SHELL
        if language in ("", "text", "txt"):
            first = self.lines[index + 1] if index + 1 < len(self.lines) else ""
            return SHELL if _COMMAND_LINE.match(first) else CODE
        return CODE

    def _introduction(self, index: int, place: str) -> str:
        if self.kind == SCRIPT:
            above = self.lines[max(0, index - 2) : index]
            return "\n".join(line[:300] for line in above if line.lstrip().startswith(("#", "//", "*", '"""')))
        start = index if place == PROSE else self._starts[index]
        above = self.lines[max(start, index - _ABOVE) : index]
        return "\n".join([*(line[:300] for line in reversed(above)), *self._above(start)])

    def _above(self, start: int) -> list[str]:
        """Return the two nearest lines of prose above a line, and the nearest heading."""
        prose, headings = self._prose_and_headings
        last = max(0, start - _HIGHEST)
        place = bisect_left(headings, start)
        heading = [at for at in headings[max(0, place - 1) : place] if at >= last]
        place = bisect_left(prose, start)
        near = [at for at in prose[max(0, place - 2) : place] if at >= max(last, *heading, 0)]
        found = [self.lines[at].strip()[:300] for at in reversed(near)]
        return [*found, *(self.lines[at].strip()[:200] for at in heading)]

    @cached_property
    def _starts(self) -> list[int]:
        """The index of the first line of each line's block."""
        starts: list[int] = []
        for index, place in enumerate(self._places):
            starts.append(starts[-1] if index and self._places[index - 1] == place else index)
        return starts

    @cached_property
    def _prose_and_headings(self) -> tuple[list[int], list[int]]:
        """The indices of the lines of prose, and those of the headings."""
        prose: list[int] = []
        headings: list[int] = []
        for index, line in enumerate(self.lines):
            text = line.strip()
            if text and self._places[index] in (PROSE, COMMENT) and not text.startswith(("```", "~~~")):
                (headings if text[0] == "#" and _HEADING.match(text) else prose).append(index)
        return prose, headings
