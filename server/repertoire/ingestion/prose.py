"""Extracts from a component's text its description, examples of its use, and code."""

from __future__ import annotations

import re
from collections.abc import Iterator

from repertoire import linear
from repertoire.domain.text import clean_line

DESCRIPTION_LIMIT = 4_000
CODE_LIMIT = 4_000
EXAMPLE_LIMIT = 300
_EXAMPLES = 12
_SCANNED = 20_000  # characters of a body that are searched for examples

_FENCES = "`~"
_SHORTEST_FENCE = 3
_LINK_TEXT, _LINK_TARGET = 300, 500  # longest link; without a bound each bracket is followed to the end of the text
_NOT_PROSE = re.compile(r"^\s*(?:#|[-*+]\s|\d+[.)]\s|\||>|<|!\[|\[!|```|~~~|---|===|\$ARGUMENTS)")
_MARKUP = re.compile(
    r"[*`]{1,3}(?=\S)|(?<=\S)[*`]{1,3}|(?<!\w)_{1,3}(?=\S)|(?<=\S)_{1,3}(?!\w)"
    rf"|!?\[([^\]]{{0,{_LINK_TEXT}}})\]\([^)]{{0,{_LINK_TARGET}}}\)"
)
_EXAMPLE_BLOCK = linear.compile(r"(?is)<example>(.+?)</example>")
_OPENING = "<example>"
_LONGEST_BLOCK = 3000  # characters of an example block; a longer one was not closed and contains the next one
_SAID = linear.compile(r"(?i)\buser:\s*[\"'“]?(.{4}.*?)[\"'”]?\s*(?:\\n|\n|assistant:|<commentary>|$)")
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
    """Return the first paragraph of prose as one line, or else the first heading, or else an empty string."""
    paragraph: list[str] = []
    heading = ""
    for line in without_code(body[:_SCANNED]).splitlines():
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
    kept, place = [], 0
    for start, end, _ in _fenced(body):
        kept.append(body[place:start])
        place = end
    return "".join(kept) + body[place:]


def _fenced(body: str) -> Iterator[tuple[int, int, str]]:
    """Yield the offsets of each fenced block's start and end, and its content; an unclosed one ends with the text."""
    start, inside, fence, place = 0, 0, "", 0
    for line in body.split("\n"):
        after = place + len(line) + 1
        if fence:
            if line.strip(" \t") == fence:
                yield start, after - 1, body[inside:place]
                fence = ""
        elif after <= len(body):  # the last line opens no block
            start, inside, fence = place, after, _opening(line)
        place = after
    if fence:
        yield start, len(body), body[inside:]


def _opening(line: str) -> str:
    """Return the fence with which a line opens a code block; empty if it opens none."""
    text = line.lstrip(" \t")
    mark = text[:1]
    after = text.lstrip(mark) if mark and mark in _FENCES else text
    fence = text[: len(text) - len(after)]
    return fence if len(fence) >= _SHORTEST_FENCE and "`" not in after else ""


def unmarked(text: str) -> str:
    """Return Markdown text as one line, without emphasis and link targets."""
    return clean_line(_MARKUP.sub(lambda match: match.group(1) or "", text), DESCRIPTION_LIMIT)


def code(body: str) -> str:
    """Return the fenced code of a body, up to a bound."""
    pieces: list[str] = []
    room = CODE_LIMIT
    for _, _, fenced in _fenced(body):
        piece = fenced.strip()[:room]
        if piece:
            pieces.append(piece)
            room -= len(piece) + 2
        if room <= 0:
            break
    return "\n\n".join(pieces)


def examples(description: str, body: str) -> tuple[str, ...]:
    """Return the author's examples of what a user says or needs when this component should be used."""
    found: dict[str, None] = {}
    for example in _examples(description, body[:_SCANNED]):
        line = unmarked(example.replace("\\n", " "))[:EXAMPLE_LIMIT].strip(" \"'")
        if len(line) > 5 and not line.endswith(":"):
            found.setdefault(line, None)
        if len(found) >= _EXAMPLES:
            break
    return tuple(found)


def _blocks(text: str) -> Iterator[str]:
    for found in _EXAMPLE_BLOCK.finditer(text):
        block = str(found.group(1))
        if len(block) > _LONGEST_BLOCK:
            block = block[block.lower().rfind(_OPENING) + len(_OPENING) :] if _OPENING in block.lower() else ""
        if 0 < len(block) <= _LONGEST_BLOCK:
            yield block


def _examples(description: str, body: str) -> Iterator[str]:
    whole = f"{description}\n{body}"
    for block in _blocks(whole):
        yield next(_user_words(block), block)
    yield from _user_words(description)
    for quoted in _QUOTED.finditer(description):
        if " " in quoted.group(1).strip():
            yield quoted.group(1)
    prose = without_code(whole)
    for when in _WHEN.finditer(prose):
        yield when.group(1)


def _user_words(text: str) -> Iterator[str]:
    """Yield the user's words in example dialogues; the length is checked here, because a count makes RE2 very slow."""
    return (match.group(1) for match in _SAID.finditer(text) if len(match.group(1)) <= EXAMPLE_LIMIT)
