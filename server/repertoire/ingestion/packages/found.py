"""A tool that a server registers, as its source says, and the programs of a package that such are looked for in."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from tree_sitter import Node

from repertoire.ingestion import syntax
from repertoire.ingestion.packages.literals import Names

_NAME = re.compile(r"[A-Za-z](?:[A-Za-z0-9_./:-]{0,100}[A-Za-z0-9])?")


@dataclass(frozen=True)
class FoundTool:
    """A tool by the name that it is called by; `arguments` are names, with types where the source tells them."""

    name: str
    description: str = ""
    arguments: tuple[str, ...] = ()


@dataclass(frozen=True)
class Program:
    """A parsed program, and what its names stand for."""

    path: str
    text: str
    language: str
    root: Node
    names: Names


def programs(texts: Mapping[str, str]) -> tuple[list[Program], list[str]]:
    """Parse the programs of a package; return them, and of those that cannot be parsed the path with the reason."""
    failed: list[str] = []
    parsed = list(syntax.parsed(texts, failed))
    around = _shared(Names(root, language) for _, _, language, root in parsed)
    known = [Program(*one, Names(one[3], one[2], around)) for one in parsed]
    return known, failed


def _shared(all_names: Iterable[Names]) -> dict[str, str]:
    """Return the names that stand for one text in a whole package: what one program imports of another."""
    found: dict[str, set[str]] = {}
    for names in all_names:
        for name, text in names.texts():
            found.setdefault(name, set()).add(text)
    return {name: texts.pop() for name, texts in found.items() if len(texts) == 1}


def tool(name: str | None, description: str | None, arguments: Sequence[str] = ()) -> FoundTool | None:
    """Make a tool of what was read; None where that is no name that a tool could have."""
    if name is None or not _NAME.fullmatch(name):
        return None
    return FoundTool(name, (description or "").strip(), tuple(arguments)[:30])


def merged(tools: Iterable[FoundTool]) -> list[FoundTool]:
    """Keep one tool of each name, the one that says most."""
    found: dict[str, FoundTool] = {}
    for one in tools:
        known = found.get(one.name)
        if known is None or (len(known.description), len(known.arguments)) < (len(one.description), len(one.arguments)):
            found[one.name] = one
    return list(found.values())
