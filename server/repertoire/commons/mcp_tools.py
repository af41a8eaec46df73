"""The tools of the MCP door: each is one route of the API, whose parameters and models are read off its OpenAPI."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import quote

import mcp_types as types
from fastapi import FastAPI
from fastapi.routing import APIRoute
from jsonschema import Draft202012Validator

from repertoire.commons import api
from repertoire.domain.errors import InvalidRequest
from repertoire.domain.text import clean_line

_READS = types.ToolAnnotations(read_only_hint=True, idempotent_hint=True, open_world_hint=False)
_WRITES = types.ToolAnnotations(
    read_only_hint=False, destructive_hint=False, idempotent_hint=True, open_world_hint=False
)
_TOOLS: tuple[tuple[str, Callable[..., object], types.ToolAnnotations], ...] = (
    ("search_traces", api.search, _READS),
    ("get_trace", api.show, _READS),
    ("contribute_trace", api.contribute, _WRITES),
    ("amend_trace", api.amend, _WRITES),
    ("vote_trace", api.vote, _WRITES),
    ("list_tags", api.tags, _READS),
    ("flag", api.flag, _WRITES),
)
_COMPONENTS, _DEFINITIONS = "#/components/schemas/", "#/$defs/"
_SHOWN = 200  # characters of an argument in a message


@dataclass(frozen=True)
class Tool:
    """A tool, and the route that it calls; `places` says of each argument whether it is of the path, query or body."""

    name: str
    method: str
    path: str
    entry: types.Tool
    places: Mapping[str, str] = field(default_factory=dict)

    def request(self, arguments: Mapping[str, Any]) -> dict[str, Any]:
        """Return the request of a call, as httpx takes it.

        Raises:
            InvalidRequest: the arguments do not fit the route's own schema.
        """
        errors = Draft202012Validator(self.entry.input_schema).iter_errors(dict(arguments))
        for error in errors:
            message = f"{self.name}: {clean_line(error.json_path[:_SHOWN], _SHOWN)}: {_line(error.message)}"
            raise InvalidRequest(message)
        parts: dict[str, dict[str, Any]] = {place: {} for place in ("path", "query", "body")}
        for name, value in arguments.items():
            parts[self.places[name]][name] = value
        path = self.path.format(**{name: quote(value, safe="") for name, value in parts["path"].items()})
        has_body = "body" in self.places.values()
        return {
            "method": self.method,
            "url": path,
            "params": {name: value for name, value in parts["query"].items() if value is not None},
            **({"json": parts["body"]} if has_body else {}),
        }


def tools_of(app: FastAPI) -> dict[str, Tool]:
    """Return the tools by name, with the schemas of the application's routes."""
    described = app.openapi()
    routes = {route.endpoint: route for route in api.router.routes if isinstance(route, APIRoute)}
    return {name: _tool(name, routes[endpoint], hints, described) for name, endpoint, hints in _TOOLS}


def _tool(name: str, route: APIRoute, hints: types.ToolAnnotations, described: Mapping[str, Any]) -> Tool:
    method = next(iter(route.methods or ()))
    operation = described["paths"][route.path][method.lower()]
    components = described["components"]["schemas"]
    arguments = [*_parameters(operation), *_body(operation, components)]
    entry = types.Tool(
        name=name,
        title=operation["summary"],
        description=operation["description"],
        input_schema=_schema(
            {
                "type": "object",
                "properties": {name: schema for name, _, schema, _ in arguments},
                "required": [name for name, _, _, required in arguments if required],
                "additionalProperties": False,
            },
            components,
        ),
        output_schema=_schema(_answer(operation, components), components),
        annotations=hints,
    )
    return Tool(name, method, route.path, entry, {name: place for name, place, *_ in arguments})


def _parameters(operation: Mapping[str, Any]) -> Iterator[tuple[str, str, Mapping[str, Any], bool]]:
    for parameter in operation.get("parameters", ()):
        if parameter["in"] in {"path", "query"}:
            about = {"description": parameter["description"]} if "description" in parameter else {}
            yield parameter["name"], parameter["in"], {**parameter["schema"], **about}, parameter["required"]


def _body(operation: Mapping[str, Any], components: Mapping[str, Any]) -> Iterator[tuple[str, str, Any, bool]]:
    if "requestBody" in operation:
        model = _resolved(operation["requestBody"]["content"]["application/json"]["schema"], components)
        for name, schema in model["properties"].items():
            yield name, "body", schema, name in model.get("required", ())


def _answer(operation: Mapping[str, Any], components: Mapping[str, Any]) -> Mapping[str, Any]:
    good = next(answer for status, answer in operation["responses"].items() if status.startswith("2"))
    return _resolved(good["content"]["application/json"]["schema"], components)


def _resolved(schema: Mapping[str, Any], components: Mapping[str, Any]) -> Mapping[str, Any]:
    found: Mapping[str, Any] = components[schema["$ref"].removeprefix(_COMPONENTS)] if "$ref" in schema else schema
    return found


def _schema(schema: Mapping[str, Any], components: Mapping[str, Any]) -> dict[str, Any]:
    """Return a schema together with the components that it refers to."""
    used: dict[str, Any] = {}
    waiting = list(_references(schema))
    while waiting:
        name = waiting.pop()
        if name not in used:
            used[name] = components[name]
            waiting += _references(components[name])
    text = json.dumps({**schema, **({"$defs": used} if used else {})})
    found: dict[str, Any] = json.loads(text.replace(_COMPONENTS, _DEFINITIONS))
    return found


def _references(part: object) -> Sequence[str]:
    if isinstance(part, Mapping):
        own = [part["$ref"].removeprefix(_COMPONENTS)] if isinstance(part.get("$ref"), str) else []
        return [*own, *(name for value in part.values() for name in _references(value))]
    return [name for value in part for name in _references(value)] if isinstance(part, list) else []


def _line(text: str) -> str:
    return clean_line(text if len(text) <= _SHOWN else f"{text[:_SHOWN]}…", _SHOWN + 1)
