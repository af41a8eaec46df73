"""Defines the output schemas of tools; the rendering package makes the JSON objects."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


def output(**properties: str | Mapping[str, Any]) -> dict[str, Any]:
    """Return the schema of an object in which all these properties are required."""
    shaped = {name: {"type": kind} if isinstance(kind, str) else dict(kind) for name, kind in properties.items()}
    return {"type": "object", "properties": shaped, "required": list(shaped)}


def also(output: Mapping[str, Any], **optional: Mapping[str, Any]) -> dict[str, Any]:
    """Return a schema with further, optional properties."""
    return {**output, "properties": {**output["properties"], **optional}}


LINES = {"type": "array", "items": {"type": "string"}}
BRINGS = {
    "anyOf": [
        output(
            unit="string",
            counts={"type": "object", "additionalProperties": {"type": "integer"}},
            tokens="integer",
            whole="boolean",
        ),
        {"type": "null"},
    ]
}
_HIT: dict[str, str | Mapping[str, Any]] = {
    "id": "string",
    "name": "string",
    "type": "string",
    "installed": "boolean",
    "description": "string",
    "flags": LINES,
    "notes": LINES,
    "score": "number",
    "whys": LINES,
    "install": LINES,
    "role": "string",
    "client": "string",
    "brings": BRINGS,
}
HITS = {"type": "array", "items": output(**_HIT)}
OTHERS = {
    "type": "array",
    "items": output(id="string", name="string", type="string", reason="string", remedy="string"),
}
ITEMS = {
    "type": "array",
    "items": output(**_HIT, tokens="integer", lacking=LINES, alternatives=OTHERS, spare="boolean"),
}
GRAPH = output(
    nodes={
        "type": "array",
        "items": output(id="string", name="string", type="string", weight="number", chosen="boolean"),
    },
    edges={"type": "array", "items": output(source="string", target="string", relation="string", weight="number")},
)
COMBINATIONS = {
    "type": "array",
    "items": output(
        name="string",
        kind="string",
        members={"type": "array", "items": output(id="string", name="string", type="string")},
        more="integer",
        capabilities=LINES,
        support="integer",
        lift="number",
        seen=LINES,
    ),
}
