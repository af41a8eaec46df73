"""Fills in what an mdBook document includes from other files of its source: a whole file, some lines, or an anchor."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Callable

INCLUDED_BYTES = 200_000  # of all that one document includes
_DIRECTIVE = re.compile(
    r"(?P<escape>\\?)\{\{#(?:rustdoc_)?(?:include|playground)[ \t]{1,20}(?P<what>[^{}\s]{1,300})[^{}]{0,200}\}\}"
)
_ANCHOR = re.compile(r"ANCHOR(?P<end>_END)?:\s*(?P<name>[\w.-]+)")

Read = Callable[[str], str | None]  # returns the text of a file of the source by its path; None: there is none


def fill_in(path: str, text: str, read: Read) -> str:
    """Return a document with what it includes; a directive that leads nowhere stays as it is."""
    room = INCLUDED_BYTES

    def included(match: re.Match[str]) -> str:
        nonlocal room
        found = None if match["escape"] else _included(path, match["what"], read)
        if found is None or len(found) > room:
            return match[0]
        room -= len(found)
        return found

    return _DIRECTIVE.sub(included, text)


def _included(path: str, what: str, read: Read) -> str | None:
    name, _, part = what.partition(":")
    target = posixpath.normpath(posixpath.join(posixpath.dirname(path), name))
    if target.startswith(("..", "/")):
        return None
    text = read(target)
    return None if text is None else _part(text.splitlines(), part)


def _part(lines: list[str], part: str) -> str | None:
    """Return the lines that a part names: `3`, `3:7`, `:7`, `3:`, an anchor, or all of them for none."""
    first, colon, last = part.partition(":")
    if (first or last) and all(bound.isdigit() or not bound for bound in (first, last)):
        begin = int(first or 1) - 1
        end = int(last) if last else (len(lines) if colon else begin + 1)
        return "\n".join(_shown(lines[begin:end]))
    return "\n".join(_shown(lines)) if not part else _anchored(lines, part)


def _anchored(lines: list[str], name: str) -> str | None:
    marks = [
        (number, mark["end"])
        for number, line in enumerate(lines)
        for mark in _ANCHOR.finditer(line)
        if mark["name"] == name
    ]
    begin = next((number for number, end in marks if not end), None)
    if begin is None:
        return None
    end = next((number for number, ends in marks if ends and number > begin), len(lines))
    return "\n".join(_shown(lines[begin + 1 : end]))


def _shown(lines: list[str]) -> list[str]:
    return [line for line in lines if not _ANCHOR.search(line)]
