"""Reads one file of a project: its language and size, and the symbols or sections in it."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import replace

from repertoire.app.projects.lines import clean
from repertoire.app.sources.cpu_limit import cpu_limit
from repertoire.documentation.markdown import read_markdown
from repertoire.domain.errors import TooSlow
from repertoire.domain.pack import PackArticle
from repertoire.domain.project import DocSection, ReadFile
from repertoire.ingestion import front_matter
from repertoire.projects.code import read_code, read_lines
from repertoire.projects.languages import (
    MARKDOWN,
    PARSED,
    holds_secrets,
    is_cut_by_lines,
    is_generated,
    language_of,
)
from repertoire.projects.pieces import pieces
from repertoire.projects.snippets import snippet_languages
from repertoire.sources import crawl
from repertoire.sources.crawl import FoundFile
from repertoire.syntax import Unparsable

_A_FILE_S = 15.0  # processor time for one file
_LONG_LINES = 400  # characters of the average line of a file that a program made


def read_file(entry: FoundFile, *, known: str = "") -> tuple[ReadFile, str]:
    """Return a file as it was read, and the reason why its content was not; empty if it was.

    Of a file whose content has the hash `known` nothing more is read.
    """
    status = entry.location.stat()
    bare = ReadFile(entry.path, language_of(entry.path), status.st_size, 0, "", crawl.changed_at(status))
    if holds_secrets(entry.path):
        return bare, "it is made to hold secrets"
    data = crawl.read(entry)
    if not isinstance(data, bytes):
        return bare, data
    bare = replace(bare, content_hash=hashlib.sha256(data).hexdigest(), size=len(data))
    if bare.content_hash == known:
        return bare, ""
    text = crawl.decode(data)
    if text is None:
        return bare, "not UTF-8 text"
    return _read_text(replace(bare, lines=text.count("\n") + (not text.endswith("\n"))), text)


def _read_text(bare: ReadFile, text: str) -> tuple[ReadFile, str]:
    language = bare.language
    if is_generated(bare.path) or len(text) > _LONG_LINES * (bare.lines + 5):
        return bare, "a program made it, by its name or its long lines"
    if language not in PARSED and language != MARKDOWN and not is_cut_by_lines(language, bare.size):
        return bare, ""
    try:
        with cpu_limit(_A_FILE_S):
            return _content(bare, clean(text, bare.path)), ""
    except TooSlow:
        return bare, f"took longer than {_A_FILE_S:.0f} s to read"
    except Unparsable as error:
        return bare, str(error)


def _content(bare: ReadFile, text: str) -> ReadFile:
    if bare.language == MARKDOWN:
        return _document(bare, text)
    if bare.language in PARSED:
        symbols, facts = read_code(bare.path, text, bare.language)
        return replace(bare, symbols=symbols, facts=facts)
    return replace(bare, symbols=read_lines(bare.path, text))


def _document(bare: ReadFile, text: str) -> ReadFile:
    parts = front_matter.split(text)
    above = text.rstrip().count("\n") - parts.body.count("\n")  # lines of the front matter, and empty ones behind it
    article = read_markdown(bare.path, parts.body, parts.front_matter, content_hash=bare.content_hash)
    sections = tuple(_sections(article, text.split("\n"), above))
    return replace(bare, title=article.title, sections=sections, links=tuple(dict.fromkeys(article.links)))


def _sections(article: PackArticle, lines: Sequence[str], above: int) -> Iterator[DocSection]:
    seen: dict[str, int] = {}
    for section in article.sections:
        times = seen[section.anchor] = seen.get(section.anchor, 0) + 1
        anchor = section.anchor if times == 1 else f"{section.anchor}~{times}"
        start, end = (max(1, min(number + above, len(lines))) for number in section.lines)
        while end > start and not lines[end - 1].strip():
            end -= 1
        header = " - ".join(dict.fromkeys(part for part in (article.title, *section.path, section.title) if part))
        chunks = pieces(lines, start, end, header)
        place = (section.title, anchor, section.level, section.path, start, end)
        yield DocSection(*place, section.text, chunks, snippet_languages(lines[start - 1 : end]))
