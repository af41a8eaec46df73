"""Defines the entry of a tool in tools/list, and the argument schemas that tools share."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class Tool:
    """A tool in tools/list. `example` is a set of valid arguments, which an error shows as what to send instead."""

    name: str
    title: str
    description: str
    properties: Mapping[str, Mapping[str, Any]]
    required: tuple[str, ...]
    example: Mapping[str, Any]
    output: Mapping[str, Any]
    read_only: bool = True
    destructive: bool = False
    idempotent: bool = True
    open_world: bool = False
    always_load: bool = False  # the client loads it without a tool search
    needs_model: bool = False  # its answer uses vectors
    input_schema: Mapping[str, Any] = field(init=False)

    def __post_init__(self) -> None:
        schema: dict[str, Any] = {"type": "object", "properties": dict(self.properties), "additionalProperties": False}
        if self.required:
            schema["required"] = list(self.required)
        object.__setattr__(self, "input_schema", schema)


def text(description: str, *, most: int = 2000) -> dict[str, Any]:
    """Return the schema of a text."""
    return {"type": "string", "description": description, "minLength": 1, "maxLength": most}


def flag(description: str) -> dict[str, Any]:
    """Return the schema of a boolean."""
    return {"type": "boolean", "description": description}


def number(description: str, *, least: int, most: int) -> dict[str, Any]:
    """Return the schema of a whole number."""
    return {"type": "integer", "description": description, "minimum": least, "maximum": most}


def texts(description: str, *, most: int, choices: tuple[str, ...] = ()) -> dict[str, Any]:
    """Return the schema of a list of texts."""
    item: dict[str, Any] = {"type": "string", "minLength": 1, "maxLength": 500}
    if choices:
        item = {"type": "string", "enum": list(choices)}
    return {"type": "array", "description": description, "items": item, "maxItems": most}
