"""Finds the tools that a README lists, for servers whose source does not name them (generated or bundled)."""

from __future__ import annotations

import re
from collections.abc import Iterator

from repertoire.ingestion.packages.registered_tools import RegisteredTool, tool

_HEADING = re.compile(r"^(#{2,6})\s+(.*)$")
_TOOLS = re.compile(r"\btools\b", re.IGNORECASE)
# A name is in code or bold, with a `-`, `_` or inner capital: plain words are often kinds of tools.
_NAME = r"(?:\*\*`?|`)(?=\w+[_-]|\w*[a-z][A-Z])([A-Za-z][\w-]{2,60})`?(?:\*\*|`)?"
_ITEM = re.compile(rf"^ ?(?:[-*+]|\d+\.)\s+{_NAME}\s*(?:\([^)]*\))?\s*(?:[:\u2013\u2014-]\s*(.*))?$")
_ROW = re.compile(rf"^\|\s*{_NAME}\s*\|\s*([^|]*)")
_TITLE = re.compile(rf"^#{{3,6}}\s+(?:\d+\.\s*)?{_NAME}\s*$")
_SAID = re.compile(r"^\s+(?:[-*+]\s+)?(?:\**Description\**:\s*)?(\S.*)$", re.IGNORECASE)
_LOOKED_AT = 200_000
_NEXT = 3  # lines after a name that may hold its description


def tools(readme: str) -> Iterator[RegisteredTool]:
    """Yield the tools in a list, a table or headings below a heading that announces tools."""
    lines = readme[:_LOOKED_AT].splitlines()
    below = 0  # the level of the heading that announces tools; 0: none does
    for number, line in enumerate(lines):
        heading = _HEADING.match(line)
        named = below and (_ITEM.match(line) or _ROW.match(line) or _TITLE.match(line))
        if named:
            described = (named.group(2) or "") if named.re is not _TITLE else ""
            found = tool(named.group(1), described or _described_after(lines[number + 1 : number + 1 + _NEXT]))
            if found is not None:
                yield found
        elif heading and _TOOLS.search(heading.group(2)):
            below = below or len(heading.group(1))
        elif heading and len(heading.group(1)) <= below:
            below = 0


def _described_after(lines: list[str]) -> str:
    described = [line for line in lines if "description:" in line.lower()]
    found = next((match for line in (*described, *lines[:1]) if (match := _SAID.match(line))), None)
    return found.group(1) if found else ""
