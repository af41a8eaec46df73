"""Parses lists of tools in all usual forms: each tool that a model may call, with its arguments."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from repertoire.ingestion import values
from repertoire.ingestion.values import Unusable

MOST = 500  # tools of one list that are read
_ARGUMENTS = 20
_HOLDERS = ("tools", "functions", "result")
_SCHEMAS = ("inputSchema", "input_schema", "parameters")


@dataclass(frozen=True)
class ToolEntry:
    """One tool of a list; each of its `arguments` is a name, a type and a description."""

    name: str
    description: str
    arguments: tuple[tuple[str, str, str], ...]

    @property
    def signature(self) -> str:
        """The tool as one line of code."""
        return f"{self.name}({', '.join(f'{name}: {kind}' for name, kind, _ in self.arguments)})"


def read(source: str) -> list[ToolEntry]:
    """Parse a list of tools; an empty list has none.

    Raises:
        Unusable: the text is no list of tools.
    """
    try:
        found = json.loads(source)  # not bounded by number of values: a server may list hundreds of tools
    except (ValueError, RecursionError):
        message = "not JSON"
        raise Unusable(message) from None
    for _ in _HOLDERS:
        found = next((found[key] for key in _HOLDERS if key in found), found) if isinstance(found, Mapping) else found
    if isinstance(found, Mapping):  # by name
        found = [{"name": key, **item} for key, item in found.items() if isinstance(item, Mapping)]
    if not isinstance(found, list):
        message = "no list of tools"
        raise Unusable(message)
    tools = [entry for item in found[:MOST] if isinstance(item, Mapping) for entry in _entry(item)]
    if found and not tools:
        message = "lists nothing that is a tool"
        raise Unusable(message)
    return tools


def _entry(item: Mapping[str, Any]) -> Iterator[ToolEntry]:
    inner = item.get("function")
    tool = inner if isinstance(inner, Mapping) else item
    name = values.name(tool.get("name"))
    if name:
        described = values.text(tool.get("description"))
        yield ToolEntry(name, described, tuple(_arguments(tool)))


def _arguments(tool: Mapping[str, Any]) -> Iterator[tuple[str, str, str]]:
    listed = tool.get("arguments")
    for item in listed[:_ARGUMENTS] if isinstance(listed, list) else ():
        argument = values.mapping(item)
        yield _argument(values.name(argument.get("name")), argument.get("type"), argument.get("desc"))
    for key in _SCHEMAS:
        properties = values.mapping(values.mapping(tool.get(key)).get("properties"))
        for name, schema in list(properties.items())[:_ARGUMENTS]:
            yield _argument(
                values.name(name), values.mapping(schema).get("type"), values.mapping(schema).get("description")
            )


def _argument(name: str, kind: Any, described: Any) -> tuple[str, str, str]:
    return name, values.name(kind) or "any", values.text(described)[:300]
