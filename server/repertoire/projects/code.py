"""Reads a program into symbols, and into what it says of other files: imports, calls, bases, types of names."""

from __future__ import annotations

import itertools
import posixpath
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from tree_sitter import Node

from repertoire import syntax
from repertoire.domain.project import (
    CLASS,
    FUNCTION,
    LINES,
    METHOD,
    MODULE,
    TYPE,
    Base,
    CallSite,
    CodeFacts,
    Symbol,
)
from repertoire.projects.bases import bases_of
from repertoire.projects.grammars import QUERIES
from repertoire.projects.imports import imports_of
from repertoire.projects.names import UNKNOWN, docstring, documentation, dotted, is_exported, name_of, signature
from repertoire.projects.pieces import pieces, stretches
from repertoire.projects.types import types_of
from repertoire.syntax import node_text

_MOST_SYMBOLS, _MOST_CALLS = 5_000, 20_000  # of one file
_DEEPEST = 32  # definitions inside one another that are told apart; what is deeper is a part of these
_INDEXED = 20_000  # characters of a symbol's text that are searched
_BLOCK = "block"  # an `impl` or a `mod`: it holds definitions and is none
_LINES_EACH = 40  # of a stretch where no grammar tells more


@dataclass
class _Definition:
    """A definition that is being read: its place in the text, and the definitions around it."""

    node: Node
    kind: str
    name: str
    start: int  # lines from 1
    end: int
    doc: str = ""
    around: _Definition | None = None
    qualname: str = ""
    inner: list[tuple[int, int]] = field(default_factory=list)  # lines of the definitions inside it


def read_code(path: str, text: str, language: str) -> tuple[tuple[Symbol, ...], CodeFacts]:
    """Return the symbols of a program, in text order, and what it says of other files.

    Raises:
        Unparsable: the program is too large or too broken, or its grammar cannot be loaded.
    """
    root = syntax.parse(text, language)
    found = syntax.captures(root, language, QUERIES[language])
    definitions = list(itertools.islice(_definitions(found, language), _MOST_SYMBOLS))
    lines = text.split("\n")
    symbols = [
        *_outside(path, root, lines, definitions, language),
        *(_symbol(path, lines, one, language) for one in definitions if one.kind != _BLOCK),
    ]
    facts = CodeFacts(
        imports=tuple(imports_of(found, language)),
        calls=tuple(_calls(found.get("call", ())[:_MOST_CALLS], definitions)),
        bases=tuple(
            Base(one.qualname, target, implements)
            for one in definitions
            for target, implements in bases_of(one.node, language)
        ),
        types=types_of(found, language, lambda node: _scope(node, definitions)),
    )
    return tuple(sorted(symbols, key=lambda one: (one.start, -one.end))), facts


def read_lines(path: str, text: str) -> tuple[Symbol, ...]:
    """Return a text without a grammar as stretches of lines."""
    lines = text.split("\n")
    starts = range(1, len(lines) + 1, _LINES_EACH)
    return tuple(
        symbol
        for number, start in enumerate(starts)
        for symbol in _stretch(path, lines, start, min(start + _LINES_EACH - 1, len(lines)), f"lines {number + 1}")
    )


def _definitions(found: dict[str, list[Node]], language: str) -> Iterator[_Definition]:
    """Yield the definitions in text order, each with the one around it."""
    kinds = {"function": FUNCTION, "class": CLASS, "type": TYPE, "block": _BLOCK}
    nodes = sorted(
        ((node, kind) for capture, kind in kinds.items() for node in found.get(capture, ())),
        key=lambda pair: (pair[0].start_byte, -pair[0].end_byte),
    )
    open_ones: list[_Definition] = []
    seen: dict[str, int] = {}
    for node, kind in nodes:
        name = name_of(node)
        if not name or name == UNKNOWN:
            continue
        while open_ones and open_ones[-1].node.end_byte <= node.start_byte:
            open_ones.pop()
        if len(open_ones) == _DEEPEST:  # the names of all around it would stand in its own
            continue
        doc, first = documentation(node, language)
        around = open_ones[-1] if open_ones else None
        one = _Definition(node, kind, name, first + 1, _last_line(node), doc, around)
        _place(one, language, seen)
        open_ones.append(one)
        yield one


def _place(one: _Definition, language: str, seen: dict[str, int]) -> None:
    """Give a definition its qualified name, which no other of the file has, and tell the one around it."""
    around = one.around
    receiver = _receiver(one.node) if language == syntax.GO else ""
    outside = receiver or (around.qualname if around else "")
    if one.kind == FUNCTION and (receiver or (around is not None and around.kind in (CLASS, TYPE, _BLOCK))):
        one.kind = FUNCTION if around is not None and around.node.type == "mod_item" else METHOD
    one.qualname = f"{outside}.{one.name}" if outside else one.name
    if one.kind != _BLOCK:
        times = seen[one.qualname] = seen.get(one.qualname, 0) + 1
        if times > 1:  # overloads, and definitions under conditions
            one.qualname = f"{one.qualname}#{times}"
    while around is not None:
        around.inner.append((one.start, one.end))
        around = around.around


def _receiver(node: Node) -> str:
    """Return the type whose method a Go function is."""
    parameters = node.child_by_field_name("receiver")
    if parameters is None:
        return ""
    words = node_text(parameters).strip("()").replace("*", " ").replace("[", " ").split()
    return words[1] if len(words) > 1 else (words[0] if words else "")


def _last_line(node: Node) -> int:
    return node.end_point.row + (1 if node.end_point.column else 0) or 1


def _symbol(path: str, lines: Sequence[str], one: _Definition, language: str) -> Symbol:
    around = one.around
    within_code = around is not None and around.kind in (FUNCTION, METHOD)
    holds = one.kind in (CLASS, TYPE)
    own = [(one.start, one.end)]
    if holds:
        own = [(a + one.start - 1, b + one.start - 1) for a, b in _own_lines(one)]
    head = signature(one.node)
    header = f"{path} {one.qualname.replace('.', ' ')}"
    text = "\n".join("\n".join(lines[start - 1 : end]) for start, end in own)[:_INDEXED]
    container = around.qualname if around is not None and around.kind != _BLOCK else ""
    if around is not None and around.kind == _BLOCK and around.node.type == "impl_item":
        container = around.qualname
    return Symbol(
        name=one.name,
        qualname=one.qualname,
        kind=one.kind,
        signature=head,
        doc=one.doc,
        start=one.start,
        end=one.end,
        exported=is_exported(one.node, one.name, language),
        container=container,
        # what stands inside another function is found as a part of that
        text="" if within_code else text,
        chunks=() if within_code else tuple(c for start, end in own for c in pieces(lines, start, end, header)),
    )


def _own_lines(one: _Definition) -> list[tuple[int, int]]:
    """Return the lines of a definition, counted from its beginning, that belong to none inside it."""
    inner = [(start - one.start + 1, end - one.start + 1) for start, end in one.inner]
    return stretches(one.end - one.start + 1, inner)


def _outside(
    path: str, root: Node, lines: Sequence[str], definitions: Sequence[_Definition], language: str
) -> Iterator[Symbol]:
    """Yield what stands outside of all definitions: the module itself, and further stretches of lines."""
    covered = [(one.start, one.end) for one in definitions if one.around is None]
    free = stretches(len(lines), covered)
    doc = docstring(root) if language == syntax.PYTHON else ""
    name = posixpath.basename(path)
    begins = bool(free) and free[0][0] == 1  # else a definition has the first line, and would be found twice
    first = free[0] if begins else (1, 1)
    chunks = pieces(lines, *first, path) if begins else ()
    text = "\n".join(lines[first[0] - 1 : first[1]])[:_INDEXED] if begins else ""
    yield Symbol(name, "", MODULE, name, doc, *first, text=text, chunks=chunks)
    for number, (start, end) in enumerate(free[1:] if first in free else free):
        yield from _stretch(path, lines, start, end, f"lines {number + 1}")


def _stretch(path: str, lines: Sequence[str], start: int, end: int, name: str) -> Iterator[Symbol]:
    """Yield a stretch of lines as a symbol, unless it says nothing."""
    while start <= end and not lines[start - 1].strip():
        start += 1
    while end >= start and not lines[end - 1].strip():
        end -= 1
    text = "\n".join(lines[start - 1 : end])[:_INDEXED]
    if sum(character.isalnum() for character in text) < 3:
        return
    head = " ".join(text.strip().split("\n")[0].split())[:120]
    yield Symbol(name, name, LINES, head, "", start, end, text=text, chunks=pieces(lines, start, end, path))


def _scope(node: Node, definitions: Sequence[_Definition]) -> str:
    """Return the qualified name of the innermost definition around a node; empty at the module's level."""
    before = bisect_right(definitions, node.start_byte, key=lambda one: one.node.start_byte)
    one = definitions[before - 1] if before else None  # what is around the node is this one, or around it
    while one is not None and (one.node.end_byte < node.end_byte or one.kind == _BLOCK):
        one = one.around
    return one.qualname if one is not None else ""


def _decorated(node: Node) -> Node | None:
    """Return the definition that a Python decorator, called or not, is written for; None for any other node."""
    outer = node.parent.parent if node.parent is not None and node.parent.type == "call" else node.parent
    if outer is None or outer.type != "decorator" or outer.parent is None:
        return None
    return outer.parent.child_by_field_name("definition")


def _calls(nodes: Sequence[Node], definitions: Sequence[_Definition]) -> Iterator[CallSite]:
    """Yield each call with the innermost definition around it; both are in text order.

    A decorator is called by what it decorates.
    """
    waiting, open_ones = list(reversed(definitions)), list[_Definition]()
    for node in nodes:
        while waiting and waiting[-1].node.start_byte <= node.start_byte:
            open_ones.append(waiting.pop())
        open_ones = [one for one in open_ones if one.node.end_byte > node.start_byte]
        target = dotted(node)
        if target[-1] != UNKNOWN:
            caller = next((one.qualname for one in reversed(open_ones) if one.kind != _BLOCK), "")
            if (decorated := _decorated(node)) is not None:
                caller = _scope(decorated, definitions)
            yield CallSite(caller, target, node.start_point.row + 1)
