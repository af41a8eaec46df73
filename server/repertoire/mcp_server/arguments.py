"""Checks the arguments of a tool call against the tool's schema; an error says what to send instead."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any

from repertoire.domain.errors import InvalidRequest
from repertoire.domain.text import clean_line, sendable
from repertoire.mcp_server.tool import Tool

_DIGITS = 100  # longer numbers exceed every schema, and Python refuses to parse thousands of digits
_WORDS = {"true": True, "false": False}


def checked(tool: Tool, arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Return the arguments in the types of the schema, with defaults; unambiguous values such as "5" are converted.

    Raises:
        InvalidRequest: an argument is missing, unknown or invalid.
    """
    unknown = [name for name in arguments if name not in tool.properties]
    if unknown:
        known = ", ".join(tool.properties) or "none"
        raise _refusal(tool, f"there is no argument {clean_line(str(unknown[0]), 60)!r}; known are: {known}")
    values: dict[str, Any] = {}
    for name, schema in tool.properties.items():
        value = arguments.get(name)
        if value is not None and value != "":
            values[name] = _fit(tool, name, schema, value)
        elif name in tool.required:
            wanted = _wanted(schema) if "enum" in schema else schema["description"]
            raise _refusal(tool, f"{name!r} is missing ({wanted})")
        elif "default" in schema:
            values[name] = schema["default"]
    return values


def _fit(tool: Tool, name: str, schema: Mapping[str, Any], value: Any) -> Any:
    fitted = _FITTERS[schema["type"]](schema, value)
    if fitted is None:
        shown = clean_line(json.dumps(value, default=str), 60)
        raise _refusal(tool, f"{name!r} takes {_wanted(schema)}; got {shown}")
    return fitted


def _string(schema: Mapping[str, Any], value: Any) -> str | None:
    if not isinstance(value, str) or not value.strip() or len(value) > schema.get("maxLength", len(value)):
        return None
    return sendable(value) if value in schema.get("enum", [value]) else None


def _integer(schema: Mapping[str, Any], value: Any) -> int | None:
    if isinstance(value, str) and value.strip().isdecimal() and len(value) < _DIGITS:
        value = int(value)
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    if isinstance(value, bool) or not isinstance(value, int):
        return None
    return value if schema["minimum"] <= value <= schema["maximum"] else None


def _boolean(_: Mapping[str, Any], value: Any) -> bool | None:
    if isinstance(value, str):
        value = _WORDS.get(value.strip().lower())
    return value if isinstance(value, bool) else None


def _array(schema: Mapping[str, Any], value: Any) -> list[str] | None:
    items = [value] if isinstance(value, str) else value
    if not isinstance(items, list) or not schema.get("minItems", 0) <= len(items) <= schema["maxItems"]:
        return None
    fitted = [_string(schema["items"], item) for item in items]
    texts = [item for item in fitted if item is not None]
    return texts if len(texts) == len(items) else None


_FITTERS: Mapping[str, Callable[[Mapping[str, Any], Any], Any]] = {
    "string": _string,
    "integer": _integer,
    "boolean": _boolean,
    "array": _array,
}


def _wanted(schema: Mapping[str, Any]) -> str:
    if schema["type"] == "array":
        return f"a list of up to {schema['maxItems']} items, each {_wanted(schema['items'])}"
    if "enum" in schema:
        return "one of " + ", ".join(schema["enum"])
    if schema["type"] == "integer":
        return f"a whole number from {schema['minimum']} to {schema['maximum']}"
    return {"boolean": "true or false"}.get(schema["type"], f"text of 1 to {schema.get('maxLength', 500)} characters")


def _refusal(tool: Tool, problem: str) -> InvalidRequest:
    return InvalidRequest(f"{tool.name}: {problem}. Send for example {json.dumps(dict(tool.example))}.")
