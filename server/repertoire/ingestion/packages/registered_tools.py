"""A tool that a server registers in its source code, and the parsed programs in which tools are searched."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from tree_sitter import Node

from repertoire import syntax
from repertoire.ingestion.packages.literals import NameTable

_NAME = re.compile(r"[A-Za-z](?:[A-Za-z0-9_./:-]{0,100}[A-Za-z0-9])?")


@dataclass(frozen=True)
class RegisteredTool:
    """A tool of an MCP server; `arguments` are names, with their types if the source states them."""

    name: str
    description: str = ""
    arguments: tuple[str, ...] = ()


@dataclass(frozen=True)
class Program:
    """A parsed program, with the texts that its names stand for."""

    path: str
    text: str
    language: str
    root: Node
    names: NameTable


def programs(texts: Mapping[str, str]) -> tuple[list[Program], list[str]]:
    """Parse the programs of a package; return them, and the paths of those that failed, with the reasons."""
    failed: list[str] = []
    parsed = list(syntax.parsed(texts, failed))
    around = _shared(NameTable(root, language) for _, _, language, root in parsed)
    known = [Program(*one, NameTable(one[3], one[2], around)) for one in parsed]
    return known, failed


def _shared(all_names: Iterable[NameTable]) -> dict[str, str]:
    """Return the names that stand for the same text in the whole package, which programs may import of each other."""
    found: dict[str, set[str]] = {}
    for names in all_names:
        for name, text in names.texts():
            found.setdefault(name, set()).add(text)
    return {name: texts.pop() for name, texts in found.items() if len(texts) == 1}


def tool(name: str | None, description: str | None, arguments: Sequence[str] = ()) -> RegisteredTool | None:
    """Make a tool; None if the name is no possible tool name."""
    if name is None or not _NAME.fullmatch(name):
        return None
    return RegisteredTool(name, (description or "").strip(), tuple(arguments)[:30])


def merged(tools: Iterable[RegisteredTool]) -> list[RegisteredTool]:
    """Keep one tool of each name: the one with the longest description."""
    found: dict[str, RegisteredTool] = {}
    for candidate in tools:
        known = found.get(candidate.name)
        if known is None or _size(known) < _size(candidate):
            found[candidate.name] = candidate
    return list(found.values())


def _size(found: RegisteredTool) -> tuple[int, int]:
    return len(found.description), len(found.arguments)
