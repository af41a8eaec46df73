"""Reads entries in the formats of others: instructions for agents, lists of things to do, beads, basic-memory."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from repertoire import linear
from repertoire.documentation.markdown import read_markdown
from repertoire.domain.digest import digest_of
from repertoire.domain.project import (
    BACKLOG,
    DEPENDS_ON,
    DOING,
    DONE,
    EPIC,
    LOWEST,
    NOTE,
    PART_OF,
    RELATES_TO,
    TASK,
    TODO,
)
from repertoire.ingestion import front_matter
from repertoire.ingestion.values import Unusable, parse_json

INSTRUCTIONS, TO_DO, BEADS, BASIC_MEMORY = "instructions", "todo", "beads", "basic-memory"
_HASH = 8  # letters of an item's hash
_TITLE = 120  # characters of a title that is made of a line
_ITEM = re.compile(r"^\s*(?:[-*+]|\d+[.)])\s+(?:\[([ xX~-])\]\s+)?(\S.*)$")
_RELATION = linear.compile(r"(?m)^\s*-[^\[\n]*\[\[([^\]\n]{1,200})\]\]")
_CONFLICT = re.compile(r"(?m)^(?:<{7}|>{7})(?: |$)")
_NAMED_TODO = re.compile(r"(?i)^(?:todo|todos|tasks|backlog)(?:\.(?:md|markdown|txt))?$")
_NAMED_INSTRUCTIONS = re.compile(r"(?i)^(?:claude(?:\.local)?|agents|gemini|copilot-instructions)\.md$")
_BEAD_STATES = {"open": TODO, "in_progress": DOING, "blocked": TODO, "deferred": BACKLOG, "closed": DONE}
_BEAD_LINKS = {"blocks": DEPENDS_ON, "parent-child": PART_OF}
_CATEGORIES = {"decision": "decision", "preference": "preference", "pattern": "pattern", "tech": "technology"}


@dataclass(frozen=True)
class ForeignEntry:
    """An entry as another program keeps it; `source` names it there, `links` are (relation, source of the other)."""

    source: str
    kind: str
    title: str
    body: str = ""
    tags: tuple[str, ...] = ()
    status: str = ""
    priority: int | None = None
    data: Mapping[str, Any] = field(default_factory=dict)
    links: tuple[tuple[str, str], ...] = ()
    names: tuple[str, ...] = ()  # by which other entries may refer to it
    once: str = ""  # its body as earlier versions read it, with the items below it
    holds_up: str = ""  # the source of the item that it is below
    context: str = ""  # goes with its body; that it changes is no reason to take it again

    @property
    def digest(self) -> str:
        """Return a hash of what is read of it, so that only what changed there is taken again."""
        return self._digest(self.body)

    def is_as(self, digest: object) -> bool:
        """Tell whether it is still what it was when this hash was made, by an earlier version too."""
        return digest == self.digest or (bool(self.once) and digest == self._digest(self.once))

    def _digest(self, body: str) -> str:
        told = repr((self.kind, self.title, body, self.tags, self.status, self.priority, self.links))
        return digest_of(told)[:12]


def format_of(path: str) -> str:
    """Return the format of a file by its name; empty if it is none of these."""
    name = path.rpartition("/")[2]
    if _NAMED_INSTRUCTIONS.match(name):
        return INSTRUCTIONS
    if _NAMED_TODO.match(name):
        return TO_DO
    if path.endswith(".jsonl") and ".beads/" in f"/{path}":
        return BEADS
    return BASIC_MEMORY if name.endswith(".md") else ""


def is_conflicting(text: str) -> bool:
    """Tell whether a text has both marks around a conflict that git left in it."""
    return {found[0][0] for found in _CONFLICT.finditer(text)} == {"<", ">"}


def read_entries(path: str, text: str, form: str) -> Iterator[ForeignEntry | str]:
    """Yield the entries of a file, no two of one source, and for each part that cannot be read the reason."""
    times = Counter[str]()
    for one in _READERS[form](path, text):
        if isinstance(one, str):
            yield one
            continue
        times[one.source] += 1
        again = times[one.source]  # items of one title, sections of one heading
        yield one if again == 1 else replace(one, source=f"{one.source}#{again}")


def _instructions(path: str, text: str) -> Iterator[ForeignEntry | str]:
    """Yield a note for each section that says something."""
    parts = front_matter.split(text)
    article = read_markdown(path, parts.body, parts.front_matter, content_hash="")
    for section in article.sections:
        body = _below_heading(section.text)
        if body:
            title = " - ".join((*section.path[-1:], section.title)) if section.title else path.rpartition("/")[2]
            yield ForeignEntry(f"{path}#{section.anchor}", NOTE, title[:_TITLE], body)


def _below_heading(text: str) -> str:
    first, _, rest = text.strip().partition("\n")
    return (rest if first.startswith("#") else text).strip()


@dataclass
class _Item:
    """An item of a list as it is read: its mark, and the lines that are indented below it."""

    source: str
    title: str
    mark: str
    tag: str
    indent: int
    around: _Item | None
    below: list[str] = field(default_factory=list)
    once: list[str] = field(default_factory=list)  # the lines of items below it too


def _to_do(path: str, text: str) -> Iterator[ForeignEntry | str]:
    """Yield a task for each item of a list; one that is ticked is done. What is indented below it is its text.

    Where that has a box to tick, it is a task of its own, and the item above waits for it.
    """
    found: list[_Item] = []
    around: list[_Item] = []  # the items that a line is below, the outermost first
    times, heading = Counter[str](), ""
    for line in text.splitlines():
        item, indent = _ITEM.match(line), len(line.expandtabs(4)) - len(line.expandtabs(4).lstrip())
        if line.startswith("#"):
            heading = line.strip("# ").lower()
        elif item is not None and (not indent or (around and item[1])):
            around = [one for one in around if one.indent < indent]
            found.append(_item(path, item, heading, indent, around[-1] if around else None))
            times[found[-1].source] += 1
            again = times[found[-1].source]
            found[-1].source += f"#{again}" if again > 1 else ""  # as `read_entries` tells two of one title apart
            around = [*around, found[-1]]
        elif around and indent and line.strip():
            [around[0], *(one for one in around if one.indent < indent)][-1].below.append(line.strip())
        if around and indent and line.strip():
            around[0].once.append(line.strip())
    yield from map(_task, found)


def _item(path: str, match: re.Match[str], heading: str, indent: int, around: _Item | None) -> _Item:
    title = match[2].strip()
    # of its title alone: the words of the item above it may change
    return _Item(f"{path}#{digest_of(title)[:_HASH]}", title, match[1] or " ", heading, indent, around)


def _task(item: _Item) -> ForeignEntry:
    short = item.title[:_TITLE]
    whole = [item.title] if short != item.title else []
    status = DONE if item.mark in "xX" else DOING if item.mark in "~-" else TODO
    return ForeignEntry(
        item.source,
        TASK,
        short,
        "\n".join([*whole, *item.below]),
        (item.tag[:60],) if item.tag else (),
        status,
        once="" if item.around else "\n".join([*whole, *item.once]),
        holds_up=item.around.source if item.around else "",
        context=f"Part of: {item.around.title}" if item.around else "",
    )


def list_of(source: str) -> str:
    """Return the path of the list that an item's source names; of another source, anything else."""
    path, _, last = source.rpartition("#")
    return path if len(last) == _HASH else path.rpartition("#")[0]  # the number of one of several with one title


def _beads(path: str, text: str) -> Iterator[ForeignEntry | str]:
    """Yield a task or epic for each line of a beads export."""
    for number, line in enumerate(text.splitlines(), 1):
        if not line.strip():
            continue
        try:
            told = parse_json(line)
        except Unusable as error:
            yield f"line {number}: {error}"
            continue
        if not isinstance(told, dict) or not told.get("id") or not told.get("title"):
            yield f"line {number}: no issue with an id and a title"
            continue
        yield _bead(path, told)


def _bead(path: str, told: Mapping[str, Any]) -> ForeignEntry:
    links = [
        (_BEAD_LINKS.get(str(one.get("type")), RELATES_TO), f"{path}#{one.get('depends_on_id')}")
        for one in told.get("dependencies") or ()
        if isinstance(one, dict) and str(one.get("issue_id", told["id"])) == str(told["id"])
    ]
    kind = EPIC if told.get("issue_type") == "epic" else TASK
    priority = told.get("priority")
    known = isinstance(priority, int) and 0 <= priority <= LOWEST
    body = "\n\n".join(
        str(told[name]) for name in ("description", "design", "acceptance_criteria", "notes") if told.get(name)
    )
    labels = told.get("labels")
    tags = (
        *(map(str, labels) if isinstance(labels, list) else ()),
        *_only(told.get("issue_type"), not_in=(TASK, EPIC)),
    )
    data = {"assignee": str(told["assignee"])} if told.get("assignee") else {}
    status = _BEAD_STATES.get(str(told.get("status")), TODO)
    named = (f"{path}#{told['id']}",)
    return ForeignEntry(
        named[0], kind, str(told["title"]), body, tags, status, priority if known else None, data, tuple(links), named
    )


def _only(value: object, *, not_in: tuple[str, ...]) -> tuple[str, ...]:
    return (str(value),) if value and value not in not_in else ()


def _basic_memory(path: str, text: str) -> Iterator[ForeignEntry | str]:
    """Yield a note of a basic-memory file; its relations lead to notes by their titles or permalinks."""
    parts = front_matter.split(text)
    if not parts.front_matter.get("title") or not ({"permalink", "type"} & {*parts.front_matter}):
        yield "no note of basic-memory: its front matter has no title, or neither permalink nor type"
        return
    title = str(parts.front_matter["title"])
    told = parts.front_matter.get("tags") or ()
    tags = (
        tuple(map(str, told)) if isinstance(told, list) else tuple(word for word in str(told or "").split(",") if word)
    )
    category = next((_CATEGORIES[name] for name in _CATEGORIES if f"- [{name}]" in parts.body), "")
    links = tuple((RELATES_TO, match[1].strip().lower()) for match in _RELATION.finditer(parts.body))
    names = (title.lower(), str(parts.front_matter.get("permalink") or "").lower())
    data = {"category": category} if category else {}
    yield ForeignEntry(path, NOTE, title, parts.body, tags, data=data, links=links, names=names)


_READERS: Mapping[str, Callable[[str, str], Iterator[ForeignEntry | str]]] = {
    INSTRUCTIONS: _instructions,
    TO_DO: _to_do,
    BEADS: _beads,
    BASIC_MEMORY: _basic_memory,
}
FORMATS = tuple(_READERS)
