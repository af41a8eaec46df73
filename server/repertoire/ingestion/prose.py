"""What a component's own text says about itself: a description, examples of its use, and code."""

from __future__ import annotations

import re
from collections.abc import Iterator

from repertoire.domain.text import clean_line

DESCRIPTION_LIMIT = 4_000
CODE_LIMIT = 4_000
EXAMPLE_LIMIT = 300
_EXAMPLES = 12
_SCANNED = 20_000  # characters of a body that are looked through for examples

_FENCE = re.compile(r"^[ \t]*(```+|~~~+)[^\n`]*\n(.*?)(?:^[ \t]*\1[ \t]*$|\Z)", re.MULTILINE | re.DOTALL)
_NOT_PROSE = re.compile(r"^\s*(?:#|[-*+]\s|\d+[.)]\s|\||>|<|!\[|\[!|```|~~~|---|===|\$ARGUMENTS)")
_MARKUP = re.compile(
    r"[*`]{1,3}(?=\S)|(?<=\S)[*`]{1,3}|(?<!\w)_{1,3}(?=\S)|(?<=\S)_{1,3}(?!\w)|!?\[([^\]]*)\]\([^)]*\)"
)
_EXAMPLE_BLOCK = re.compile(r"<example>(.{1,3000}?)</example>", re.DOTALL | re.IGNORECASE)
_SAID = re.compile(r"\buser:\s*[\"'“]?(.{4,300}?)[\"'”]?\s*(?:\\n|\n|assistant:|<commentary>|$)", re.IGNORECASE)
_WHEN = re.compile(
    r"\b((?:(?:use|invoke|activate|trigger|apply|call|run)s?"
    r"(?: (?:this|it)(?: (?:skill|agent|command|tool|hook|plugin))?)?"
    r"(?: proactively)? (?:when|whenever|if|after|before)"
    r"|use (?:(?:this|it)(?: (?:skill|agent|command|tool|hook|plugin))?|proactively) for)"
    r"\b[^.\n]{8,260})",
    re.IGNORECASE,
)
_QUOTED = re.compile(r"[\"“]([^\"“”\n]{6,160})[\"”]")


def first_paragraph(body: str) -> str:
    """Return the first paragraph of prose, as one line; else the first heading; else an empty string."""
    paragraph: list[str] = []
    heading = ""
    for line in _FENCE.sub("", body[:_SCANNED]).splitlines():
        stripped = line.strip()
        if not stripped or _NOT_PROSE.match(line):
            heading = heading or (stripped.lstrip("# ") if stripped.startswith("#") else "")
            if paragraph:
                break
            continue
        paragraph.append(stripped)
    return unmarked(" ".join(paragraph) or heading)


def without_code(body: str) -> str:
    """Return a text without its fenced code."""
    return _FENCE.sub("", body)


def unmarked(text: str) -> str:
    """Return text as one line without emphasis and link targets."""
    return clean_line(_MARKUP.sub(lambda match: match.group(1) or "", text), DESCRIPTION_LIMIT)


def code(body: str) -> str:
    """Return the fenced code of a body, up to a bound."""
    pieces: list[str] = []
    room = CODE_LIMIT
    for match in _FENCE.finditer(body):
        piece = match.group(2).strip()[:room]
        if piece:
            pieces.append(piece)
            room -= len(piece) + 2
        if room <= 0:
            break
    return "\n\n".join(pieces)


def examples(description: str, body: str) -> tuple[str, ...]:
    """Return what a user would say or need to want this component, as its author put it."""
    found: dict[str, None] = {}
    for example in _examples(description, body[:_SCANNED]):
        line = unmarked(example.replace("\\n", " "))[:EXAMPLE_LIMIT].strip(" \"'")
        if len(line) > 5 and not line.endswith(":"):
            found.setdefault(line, None)
        if len(found) >= _EXAMPLES:
            break
    return tuple(found)


def _examples(description: str, body: str) -> Iterator[str]:
    whole = f"{description}\n{body}"
    for block in _EXAMPLE_BLOCK.finditer(whole):
        said = _SAID.search(block.group(1))
        yield said.group(1) if said else block.group(1)
    for said in _SAID.finditer(description):
        yield said.group(1)
    for quoted in _QUOTED.finditer(description):
        if " " in quoted.group(1).strip():
            yield quoted.group(1)
    prose = _FENCE.sub("", whole)
    for when in _WHEN.finditer(prose):
        yield when.group(1)
