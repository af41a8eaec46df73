"""Reads a Markdown document into an article: a section for each heading, with code and tables kept whole."""

from __future__ import annotations

import itertools
import posixpath
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from markdown_it import MarkdownIt
from markdown_it.token import Token
from mdurl import decode

from repertoire import linear
from repertoire.documentation.anchors import Anchors, split_attributes
from repertoire.documentation.formats import PAGES, SUFFIXES
from repertoire.domain.pack import PackArticle, PackSection
from repertoire.domain.text import clean_line

CHUNK_CHARACTERS = 900  # of a chunk: as much as the bundled model reads
_TITLE = 200  # characters of a title
_LINKS = 2_000  # of a document
_LINE_ENDS = re.compile(r"(?<=\n)")  # the only line end of a normalised text; `splitlines` knows more than the parser
_PARSER = MarkdownIt("commonmark").enable("table")
_ANCHOR = linear.compile(r"""(?i)\s(?:id|name)\s*=\s*(?:"([^"<>]+)"|'([^'<>]+)'|([^\s"'<>=]+))""")


@dataclass
class _Open:
    """A section that is being read: its heading, and the lines of its blocks."""

    title: str
    anchor: str
    level: int
    path: tuple[str, ...]
    begin: int
    cuts: list[int] = field(default_factory=list)  # lines before which a chunk may begin
    hidden: list[tuple[int, int]] = field(default_factory=list)  # lines of HTML comments, which no reader sees


def read_markdown(path: str, body: str, header: Mapping[str, Any], *, content_hash: str) -> PackArticle:
    """Return the article of a Markdown document, from its text without front matter and its front matter."""
    tokens = _PARSER.parse(body)
    sections = tuple(_sections(tokens, _LINE_ENDS.split(body)))
    first = min(sections, key=lambda section: section.level or 7, default=None)  # the first of the highest level
    title = _said(header, "title") or (first.title if first else "") or posixpath.basename(path)
    category = _said(header, "category") or posixpath.dirname(path)
    return PackArticle(path, clean_line(title, _TITLE), sections, category, content_hash, tuple(_links(path, tokens)))


def _said(header: Mapping[str, Any], key: str) -> str:
    value = header.get(key)
    return clean_line(value, _TITLE) if isinstance(value, str) else ""


def _sections(tokens: Sequence[Token], lines: Sequence[str]) -> Iterator[PackSection]:
    anchors, current, above = Anchors(), _Open("", "", 0, (), 0), list[tuple[int, str]]()
    for place, token in enumerate(tokens):
        if token.level or token.map is None or token.type.endswith("_close"):
            continue
        if token.type == "heading_open":
            yield from _closed(current, token.map[0], lines)
            current = _heading(token, tokens[place + 1], anchors, above)
        elif token.type == "html_block" and token.content.lstrip().startswith("<!--"):
            current.hidden.append((token.map[0], token.map[1]))
        else:
            current.cuts.append(token.map[0])
    yield from _closed(current, len(lines), lines)


def _heading(token: Token, inline: Token, anchors: Anchors, above: list[tuple[int, str]]) -> _Open:
    """Begin a section at a heading; `above` is brought up to date with the headings that contain it."""
    level = int(token.tag[1:])
    title, anchor = anchors.of(_plain(inline))
    above[:] = [outer for outer in above if outer[0] < level]
    path = tuple(name for _, name in above)
    above.append((level, clean_line(title, _TITLE)))
    return _Open(clean_line(title, _TITLE), anchor, level, path, (token.map or (0, 0))[0])


def _closed(current: _Open, end: int, lines: Sequence[str]) -> Iterator[PackSection]:
    """Yield the section that ends at a line, unless it has no text."""
    hidden = {number for begin, ends in current.hidden for number in range(begin, ends)}
    blocks = ["".join(lines[n] for n in range(*span) if n not in hidden) for span in _spans(current, end)]
    if current.level:
        blocks[0] = _bare(blocks[0])
    text = "".join(blocks)
    kept = text.rstrip()
    if kept:
        chunks = tuple(_chunks(blocks, len(kept)))
        span = (current.begin + 1, end)
        yield PackSection(current.title, current.anchor, current.level, kept, current.path, chunks, span)


def _bare(block: str) -> str:
    """Return a block that begins with a heading, without the fragment that the heading bears."""
    heading, end, rest = block.partition("\n")
    return f"{split_attributes(heading)[0]}{end}{rest}"


def _spans(current: _Open, end: int) -> Iterator[tuple[int, int]]:
    """Yield the lines of each block; the heading belongs to the first one."""
    starts = [current.begin, *(line for line in current.cuts[1:] if line > current.begin), end]
    yield from itertools.pairwise(starts)


def _chunks(blocks: Sequence[str], length: int) -> Iterator[tuple[int, int]]:
    """Yield the ranges of chunks: whole blocks up to the size; only a larger block is cut."""
    begin = at = 0
    for block in blocks:
        if at > begin and at + len(block) - begin > CHUNK_CHARACTERS:
            yield begin, at
            begin = at
        at += len(block)
        while min(at, length) - begin > 2 * CHUNK_CHARACTERS:
            yield begin, begin + CHUNK_CHARACTERS
            begin += CHUNK_CHARACTERS
    if begin < length:
        yield begin, length


def _plain(inline: Token) -> str:
    """Return the text of a heading without its markup, as the fragment of its address is made from it."""
    kinds = {"text", "code_inline", "softbreak"}
    shown = (
        " " if child.type == "softbreak" else child.content for child in inline.children or () if child.type in kinds
    )
    return "".join(shown)


def links_of(path: str, body: str) -> Iterator[tuple[str, str]]:
    """Yield the documents in the same source to which a document's text links, each with the fragment of its address.

    A link to a place in the document itself names the document.
    """
    yield from _targets(path, _PARSER.parse(body))


def anchors_of(body: str) -> Iterator[str]:
    """Yield the ids that the HTML in a document's text gives to other places than its headings."""
    for block in _PARSER.parse(body):
        for token in (block, *(block.children or ())):
            if token.type in {"html_block", "html_inline"}:
                yield from (next(filter(None, found.groups())) for found in _ANCHOR.finditer(token.content))


def _links(path: str, tokens: Sequence[Token]) -> Iterator[str]:
    """Yield the paths of the other documents to which a document links, once for each link."""
    for target, _ in _targets(path, tokens):
        if target != path:
            yield target


def _targets(path: str, tokens: Sequence[Token]) -> Iterator[tuple[str, str]]:
    found = 0
    for token in tokens:
        for child in token.children or ():
            if child.type != "link_open" or found >= _LINKS:
                continue
            href = str(child.attrGet("href") or "")
            target = path if href.startswith("#") else linked(path, href)
            if target:
                found += 1
                yield target, decode(href.partition("#")[2])


def linked(path: str, href: str) -> str:
    """Return the path that a relative link leads to; empty for an address, a fragment, or a path outside the source."""
    bare = decode(href.partition("#")[0].partition("?")[0])
    if not bare or ":" in bare or bare.startswith(("/", "\\")) or "\x00" in bare:
        return ""
    if bare.endswith(".html") and not path.endswith(PAGES):
        bare = f"{bare.removesuffix('.html')}.md"
    joined = posixpath.normpath(posixpath.join(posixpath.dirname(path), bare))
    return joined if joined.endswith(SUFFIXES) and not joined.startswith("..") else ""
