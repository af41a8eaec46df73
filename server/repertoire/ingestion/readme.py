"""Reads a README: the entries of a list of links, or the description of a repository without other components."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from repertoire import linear
from repertoire.domain.component import (
    AGENT,
    COMMAND,
    HOOK,
    MCP_SERVER,
    PACKAGE,
    PLUGIN,
    SETTING,
    SKILL,
    WORKFLOW,
)
from repertoire.domain.digest import digest_of
from repertoire.ingestion import prose, values
from repertoire.ingestion.addresses import repository_of
from repertoire.ingestion.parts import Draft, SourceFile

ENTRIES = 3_000
_FEWEST = 10  # entries of the shortest list
_SAYS = 8  # characters of an entry's shortest description
_BODY = 20_000
_TELLS = 30  # characters of the shortest paragraph that describes a repository
_HEADING = linear.compile(r"^(#{1,5})\s+(.*?)\s*#*$")
_LINK = r"\[(?P<name>(?:[^\[\]]|\[[^\]]*\]){1,160})\]\((?P<url>https?://[^)\s]+)[^)]*\)"
_ENTRY = linear.compile(rf"^\s*(?:[-*+]|\d+[.)])\s+[^\[\pL\pN_]{{0,12}}{_LINK}(?P<rest>.*)$")
_ROW = linear.compile(rf"^\s*\|\s*[^\[\pL\pN_|]{{0,12}}{_LINK}[^|]*\|(?P<rest>.*)$")
_START = linear.compile(rf"^\*{{0,2}}{_LINK}(?P<rest>.*)$")
# Lines that are neither entry nor prose: blank, markup, badge, table of contents, table rule, continued entry.
_NO_PROSE = re.compile(
    r"^\s*$|^\s*(?:<|\[?!\[|>|\|[\s:|-]*$|[-*_]{3,}\s*$)|^\s+\S|.*\]\(#|\s*[-*+]\s*\[[^\]]*\]\([^)]*\)\s*$"
)
_COMMENT = linear.compile(r"(?s)<!--.*?-->")
_LINKED = linear.compile(r"!?\[[^\]]*\]\([^)]*\)|<[^>]+>")
_LEADING = re.compile(r"^[^\w(\"'`$@]+")  # separators and pictograms before a description
# The last type before a preposition counts: "skills for agents" and "agent skills" are both skills.
_PREPOSITION = re.compile(r"\b(?:for|of|by|with|in|from|to|and)\b", re.IGNORECASE)
_TYPES = (
    (re.compile(r"\bmcp\b|model context protocol", re.IGNORECASE), MCP_SERVER),
    (re.compile(r"\bskills?\b", re.IGNORECASE), SKILL),
    (re.compile(r"\b(?:sub-?)?agents?\b", re.IGNORECASE), AGENT),
    (re.compile(r"\bcommands\b|slash[- ]command", re.IGNORECASE), COMMAND),
    (re.compile(r"\bhooks?\b", re.IGNORECASE), HOOK),
    (re.compile(r"\bplugins?\b|\bmarketplaces?\b", re.IGNORECASE), PLUGIN),
    (re.compile(r"\boutput styles?\b|\bsettings\b|\bstatus ?lines?\b|\brules?\b|claude\.md", re.IGNORECASE), SETTING),
    (re.compile(r"\bworkflows?\b", re.IGNORECASE), WORKFLOW),
)
_BETWEEN_PARAGRAPHS = re.compile(r"\n\s*\n")
_IS_SERVER = re.compile(r"\bMCP server\b|Model Context Protocol (?:\(MCP\) )?server", re.IGNORECASE)


@dataclass(frozen=True)
class ListedLink:
    """One entry of a list of links: its name, address, description and section."""

    name: str
    url: str
    description: str
    section: str


def entries(text: str) -> list[ListedLink]:
    """Parse the entries of a list of links; none if the text is no such list."""
    found: dict[str, ListedLink] = {}
    others = 0
    section = ""
    lines = prose.without_code(_COMMENT.sub("", text)).splitlines()
    for line, after in zip(lines, [*lines, ""][1:], strict=True):
        heading = _HEADING.match(line)
        if heading:
            section = prose.unmarked(_LINKED.sub("", heading.group(2)))
            continue
        match = _ENTRY.match(line) or _ROW.match(line)
        alone = None if match else _START.match(line)  # the words follow on a line of their own
        entry = _entry(match, after, section) if match else _entry(alone, after, section, alone=True) if alone else None
        if entry is not None:
            found.setdefault(entry.url, entry)
        elif not _NO_PROSE.match(line):
            others += 1
    listed = list(found.values())[:ENTRIES]
    return listed if len(listed) >= _FEWEST and len(listed) >= others else []


def _entry(match: linear.LinearMatch, after: str, section: str, *, alone: bool = False) -> ListedLink | None:
    name = prose.unmarked(match["name"])
    url = match["url"].partition("#")[0].partition("?")[0].rstrip("/").replace("http://", "https://", 1)
    described = _description(match["rest"])
    if alone or len(described) < _SAYS:
        described = _description(after) if not _HEADING.match(after) and not _ENTRY.match(after) else ""
    if not name or name.startswith("!") or len(described) < _SAYS or url.count("/") < 2 or "shields.io" in url:
        return None
    return ListedLink(values.name(name.rpartition("/")[2] or name), url, described, section)


def _description(text: str) -> str:
    return _LEADING.sub("", prose.unmarked(_LINKED.sub(_word, text).replace("&nbsp;", " ")).partition(" | ")[0]).strip(
        " |"
    )


def _word(match: linear.LinearMatch) -> str:
    return "" if match.group().startswith(("!", "<")) else match.group()


def kind_of(*places: str) -> str:
    """Return the component type that the first of these texts names; `package` if none names one."""
    for place in places:
        head = _PREPOSITION.split(place)[0]
        found = [(match.start(), kind) for pattern, kind in _TYPES for match in pattern.finditer(head)]
        if found:
            return max(found)[1]
    return PACKAGE


def pointers(listed: list[ListedLink], title: str) -> Iterator[Draft]:
    """Yield a draft for each entry: a pointer, known only by its address and one sentence."""
    for entry in listed:
        below = entry.url.split("/", 5)[5] if entry.url.count("/") > 4 else ""
        body = "\n".join((entry.description, f"Listed under {entry.section or title} in {title}.", entry.url))
        yield Draft(
            type=kind_of(below.replace("/", " ").replace("-", " "), title, entry.section),  # a list of servers is one
            name=entry.name,
            description=entry.description,
            body=body,
            path=entry.url,
            digest=digest_of(f"{entry!r}{title}"),
            repository=repository_of(entry.url),
            tags=(entry.section,) if entry.section else (),
        )


def title_of(text: str, fallback: str) -> str:
    """Return the first heading of a text, or the fallback."""
    for line in text.splitlines()[:80]:
        heading = _HEADING.match(line)
        if heading and (title := prose.unmarked(_LINKED.sub(_word, heading.group(2)))):
            return title
    return fallback


def _paragraphs(text: str) -> Iterator[str]:
    """Yield the paragraphs of prose, without titles, badges, and links to translations."""
    for block in _BETWEEN_PARAGRAPHS.split(prose.without_code(text)[:_BODY]):
        paragraph = prose.first_paragraph(block)
        is_title = block.lstrip().startswith("#") and "\n" not in block.strip()
        if len(paragraph) >= _TELLS and not is_title and "](" not in paragraph and " | " not in paragraph:
            yield paragraph


def about(file: SourceFile, name: str) -> Draft | None:
    """Make one component from a repository's README; None if it has no describing paragraph."""
    text = _COMMENT.sub("", file.text)
    described = next(_paragraphs(text), "")
    if not described:
        return None
    title = title_of(text, name)
    server = _IS_SERVER.search(f"{title}\n{described}")
    return Draft(
        type=MCP_SERVER if server else PACKAGE,
        name=name,
        description=described,
        body=values.storable(text)[:_BODY],
        digest=file.digest,
        front_matter={"title": title},
    )
