"""Turns documents of other formats into Markdown: reStructuredText, HTML, notebooks and MDX."""

from __future__ import annotations

import json
import posixpath
import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from repertoire.domain.errors import PackRefused

_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})")
_MODULE = re.compile(r"(?:import|export)[ \t].*")  # a line of JavaScript between paragraphs of MDX
_TAG = re.compile(r"[ \t]*</?[A-Z][A-Za-z0-9.]*(?:[ \t][^<>]*)?/?>[ \t]*")  # a component that stands alone in its line
_COMMENT = re.compile(r"\{/\*[^*]*\*/\}")
_TICKS = re.compile(r"`+")
_LANGUAGE = re.compile(r"[A-Za-z0-9+#-]{1,20}")


def to_markdown(path: str, text: str) -> str:
    """Return a document as Markdown.

    Raises:
        PackRefused: the text is not in the format that the path names.
    """
    try:
        return FORMATS[posixpath.splitext(path)[1].lower()](text)
    except RecursionError as error:
        message = "its parts lie too deep within one another"
        raise PackRefused(message) from error


def _as_it_is(text: str) -> str:
    return text


def _mdx(text: str) -> str:
    """Return MDX without its imports, exports, comments and the tags of components; code blocks stay whole."""
    return "".join(_outside_code(text.splitlines(keepends=True)))


def _outside_code(lines: list[str]) -> Iterator[str]:
    fence = ""
    for line in lines:
        mark = _FENCE.match(line)
        if mark and not fence:
            fence = mark[1]
        elif mark and mark[1][0] == fence[0] and len(mark[1]) >= len(fence):
            fence = ""
        elif not fence and (_MODULE.fullmatch(line.rstrip("\r\n")) or _TAG.fullmatch(line.rstrip("\r\n"))):
            continue
        yield line if fence else _COMMENT.sub("", line)


def _notebook(text: str) -> str:
    """Return the text and the code of a notebook, without what its cells printed."""
    try:
        value = json.loads(text)
    except (ValueError, RecursionError) as error:
        message = "not a notebook: it is no JSON"
        raise PackRefused(message) from error
    cells = value.get("cells") if isinstance(value, dict) else None
    if not isinstance(cells, list):
        message = "not a notebook: it has no cells"
        raise PackRefused(message)
    language = _language(value.get("metadata"))
    return "\n\n".join(part for cell in cells if (part := _cell(cell, language).strip("\n"))) + "\n"


def _language(metadata: Any) -> str:
    for name, key in (("language_info", "name"), ("kernelspec", "language")):
        part = metadata.get(name) if isinstance(metadata, dict) else None
        said = part.get(key) if isinstance(part, dict) else None
        if isinstance(said, str) and _LANGUAGE.fullmatch(said):
            return said
    return ""


def _cell(cell: Any, language: str) -> str:
    if not isinstance(cell, dict):
        return ""
    source = cell.get("source", "")
    lines = source if isinstance(source, list) else [source]
    text = "".join(line for line in lines if isinstance(line, str))
    if cell.get("cell_type") == "markdown":
        return text
    if cell.get("cell_type") != "code" or not text.strip():
        return ""
    fence = "`" * max(3, 1 + max((len(ticks) for ticks in _TICKS.findall(text)), default=0))
    return f"{fence}{language}\n{text}\n{fence}"


def _restructured(text: str) -> str:
    from repertoire.documentation.restructured import rst_to_markdown  # noqa: PLC0415 - only a build needs its parser

    return rst_to_markdown(text)


def _html(text: str) -> str:
    from repertoire.documentation.html import html_to_markdown  # noqa: PLC0415 - only a build needs its parser

    return html_to_markdown(text)


FORMATS: Mapping[str, Callable[[str], str]] = {
    ".md": _as_it_is,
    ".markdown": _as_it_is,
    ".mdx": _mdx,
    ".ipynb": _notebook,
    ".rst": _restructured,
    ".html": _html,
    ".htm": _html,
}
SUFFIXES = tuple(FORMATS)
PAGES = (".html", ".htm")  # mostly built from documents of another format
HEADINGS_ALONE = (*PAGES, ".rst")  # read by way of HTML, of whose ids those of headings alone are kept
