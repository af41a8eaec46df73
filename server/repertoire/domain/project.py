"""The values of a project's memory: files as they were read, with code and documents, and what people saved."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date, timedelta
from typing import Any

FILES, CODE, DOCS, KNOWLEDGE = "files", "code", "docs", "knowledge"  # the views
FILE, SYMBOL, SECTION = "file", "symbol", "section"  # kinds of nodes that come from the project's files
NOTE, TASK, EPIC, PROCEDURE = "note", "task", "epic", "procedure"  # kinds of nodes that a person or a model saved
ENTRIES = (NOTE, TASK, EPIC, PROCEDURE)
CODE_CHUNK, DOC_CHUNK, ENTRY_CHUNK = "code_chunk", "doc_chunk", "entry_chunk"
CHUNKS_OF: Mapping[str, str] = {CODE: CODE_CHUNK, DOCS: DOC_CHUNK, KNOWLEDGE: ENTRY_CHUNK}

CONTAINS, IMPORTS, EXPORTS, CALLS, EXTENDS, IMPLEMENTS = (
    "contains",
    "imports",
    "exports",
    "calls",
    "extends",
    "implements",
)
BLOCKS, PART_OF, ABOUT, RELATES_TO, SUPERSEDES = "blocks", "part_of", "about", "relates_to", "supersedes"
ENTRY_LINKS = (BLOCKS, PART_OF, ABOUT, RELATES_TO, SUPERSEDES)
DEPENDS_ON = "depends_on"  # said for BLOCKS in the other direction
ENTITY = "entity"  # a kind of nodes: what the sentences of entries say something of, known by its name
# What a sentence says of two things. Tasks block and depend on each other too: these have names of their own.
USES, USED_FOR, REQUIRES, REPLACES, RECOMMENDS, DECIDED_BY, STOPS, NEEDS_FIRST = (
    "uses",
    "used_for",
    "requires",
    "replaces",
    "recommends",
    "decided_by",
    "said_blocks",
    "said_depends_on",
)
SAID = (USES, USED_FOR, REQUIRES, REPLACES, RECOMMENDS, DECIDED_BY, STOPS, NEEDS_FIRST)

# symbols: what each is in its language
FUNCTION, METHOD, CLASS, TYPE, MODULE, LINES = "function", "method", "class", "type", "module", "lines"
SYMBOL_KINDS = (FUNCTION, METHOD, CLASS, TYPE, MODULE, LINES)

# Owners of nodes and edges: what a file holds, and where its names lead to; what was saved belongs to none.
TREE, RESOLVED = 1, 2


@dataclass(frozen=True)
class Chunk:
    """A piece of a text: its lines in the file (from 1, both included), and the text that is embedded."""

    start: int
    end: int
    text: str


@dataclass(frozen=True)
class Symbol:
    """A definition in a program, or a stretch of lines outside any; lines count from 1, both ends included."""

    name: str
    qualname: str
    kind: str
    signature: str
    doc: str
    start: int
    end: int
    exported: bool = False
    container: str = ""  # the qualified name of the definition around it
    text: str = ""  # its own text, without that of definitions inside it
    chunks: tuple[Chunk, ...] = ()


@dataclass(frozen=True)
class DocSection:
    """A document's part under one heading; lines count from 1, both ends included."""

    title: str
    anchor: str
    level: int
    path: tuple[str, ...]
    start: int
    end: int
    text: str
    chunks: tuple[Chunk, ...] = ()
    snippets: tuple[str, ...] = ()  # the languages of the code in it


@dataclass(frozen=True)
class Import:
    """A name that a file takes from another module.

    `module` is written as in the language (`a.b`, `./util`, `crate::x`); an empty `name` means the module itself.
    """

    module: str
    name: str = ""
    alias: str = ""  # the name in this file


@dataclass(frozen=True)
class CallSite:
    """A call: the qualified name of the symbol that calls, the called expression as names, and the line."""

    caller: str
    target: tuple[str, ...]  # `self.db.read()` is ("self", "db", "read")
    line: int


@dataclass(frozen=True)
class Base:
    """A type that another one is derived from or implements."""

    symbol: str
    target: tuple[str, ...]
    implements: bool = False


@dataclass(frozen=True)
class CodeFacts:
    """What one program says of others, as written; resolved when all files are known."""

    imports: tuple[Import, ...] = ()
    calls: tuple[CallSite, ...] = ()
    bases: tuple[Base, ...] = ()
    types: Mapping[str, tuple[str, ...]] = field(default_factory=dict)  # `scope name` → the type that it has


@dataclass(frozen=True)
class ReadFile:
    """A file of the project as it was read: its language and size, and what was found in it."""

    path: str
    language: str
    size: int
    lines: int
    content_hash: str
    mtime: int  # nanoseconds; when it was changed last, its place and rights included
    symbols: tuple[Symbol, ...] = ()
    facts: CodeFacts = CodeFacts()
    title: str = ""
    sections: tuple[DocSection, ...] = ()
    links: tuple[str, ...] = ()


def file_key(path: str) -> str:
    """Return the key of a file."""
    return f"{FILE}:{path}"


def symbol_key(path: str, qualname: str) -> str:
    """Return the key of a symbol; that of the module itself has no qualified name."""
    return f"{SYMBOL}:{path}::{qualname}" if qualname else f"{SYMBOL}:{path}"


def unnumbered(symbol: str) -> str:
    """Return the key or name of a symbol without the number that tells several of one name in a scope apart."""
    name, mark, number = symbol.rpartition("#")
    return name if mark and number.isdigit() else symbol


def section_key(path: str, anchor: str) -> str:
    """Return the key of a document's section; the text before the first heading has no anchor."""
    return f"{SECTION}:{path}#{anchor}" if anchor else f"{SECTION}:{path}"


@dataclass(frozen=True)
class Item:
    """What an answer says first of a symbol, section, file or entry; `start` is 0 where it has no lines."""

    key: str
    kind: str
    title: str
    path: str = ""
    start: int = 0
    end: int = 0
    line: str = ""  # its signature or first line
    doc: str = ""
    language: str = ""
    snippets: tuple[str, ...] = ()  # the languages of the code in a section


@dataclass(frozen=True)
class KnownFile:
    """The state in which a file was read last."""

    content_hash: str
    mtime: int
    size: int


@dataclass(frozen=True)
class Definition:
    """A symbol as other files refer to it."""

    path: str
    qualname: str
    name: str
    kind: str
    container: str


@dataclass(frozen=True)
class ProjectCounts:
    """The size of a project's memory."""

    files: int
    symbols: int
    sections: int
    calls: int
    entries: int
    skipped: int
    embedded: int  # texts with a vector
    to_embed: int  # texts that should have one


# How a task stands; one that is done or dropped blocks nothing.
BACKLOG, TODO, DOING, REVIEW, DONE, DROPPED = "backlog", "todo", "doing", "review", "done", "dropped"
TASK_STATES = (BACKLOG, TODO, DOING, REVIEW, DONE, DROPPED)
CLOSED = (DONE, DROPPED)
ACTIVE, SUPERSEDED = "active", "superseded"
STATES: Mapping[str, tuple[str, ...]] = {
    NOTE: (ACTIVE, SUPERSEDED),
    PROCEDURE: (ACTIVE, SUPERSEDED),
    TASK: TASK_STATES,
    EPIC: TASK_STATES,
}
CATEGORIES = ("decision", "pattern", "preference", "technology", "blocker", "fact")
NO_DAY = "9999-12-31"  # sorts what is due on no day behind the rest
_SOON = timedelta(days=7)
LOWEST = 4  # priorities of tasks go from 0, the most urgent


@dataclass(frozen=True)
class Entry:
    """A note, task, epic or procedure; `data` holds what only some of them have (due, steps, triggers, …)."""

    key: str
    kind: str
    title: str
    body: str = ""
    tags: tuple[str, ...] = ()
    status: str = ""
    priority: int = 2
    data: Mapping[str, Any] = field(default_factory=dict)
    version: int = 1
    created: str = ""
    changed: str = ""


def due_day(status: str, data: Mapping[str, Any]) -> str:
    """Return the day on which an open task or epic is due; `NO_DAY` for others, and where it is no date."""
    due = str(data.get("due") or "")
    return due if status in TASK_STATES and status not in CLOSED and is_day(due) else NO_DAY


def pressing_day(due: str, today: date) -> str:
    """Return the day on which something is due if that is past or within a week; `NO_DAY` for a later one.

    What is due in a year does not press: it comes by its priority.
    """
    return due if due <= (today + _SOON).isoformat() else NO_DAY


def is_day(text: str) -> bool:
    """Tell whether a text is a date as `2026-01-31`."""
    try:
        return date.fromisoformat(text).isoformat() == text
    except ValueError:
        return False


@dataclass(frozen=True)
class MirroredFile:
    """The file of an entry as it was when both were last the same: hashes of what the entry told, and of the file."""

    path: str
    told: str
    file: str


@dataclass(frozen=True)
class EntryLink:
    """A link of an entry: from one node's key by a relation to another's."""

    source: str
    relation: str
    target: str


@dataclass(frozen=True)
class Merge:
    """Two notes that became one: both as they were, what they became, and the links of the new one."""

    kept: Entry
    new: Entry
    both: Entry
    links: tuple[EntryLink, ...] = ()  # which it brought
    shared: tuple[EntryLink, ...] = ()  # which the other one had already


@dataclass(frozen=True)
class SaidEdge:
    """What an entry says: the names of two things, the relation between them, and the entry."""

    source: str
    relation: str
    target: str
    entry: str
