"""Finds the tools that MCP servers written in JavaScript or TypeScript register: by call, in lists, as classes."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

from tree_sitter import Node

from repertoire.ingestion.packages.literals import NameTable
from repertoire.ingestion.packages.registered_tools import Program, RegisteredTool, tool
from repertoire.syntax import children_of, find, node_text

_REGISTERS = "^(registerTool|registerToolTask|registerAppTool|tool|addTool|define\\\\w*Tool|createTool)$"
_CALLED = (
    "(call_expression function: [(member_expression property: (property_identifier) @name) (identifier) @name] "
    f'arguments: (arguments) @with (#match? @name "{_REGISTERS}"))'
)
_LISTED = (
    "(object [(pair key: (_) @key) (shorthand_property_identifier) @key] "
    '(#match? @key "^.?(inputSchema|input_schema).?$")) @value'
)
_OF_TOOLS = "^(schema|parameters|paramsSchema|argsSchema|zodSchema|handler|execute|callback|cb)$"
_LOOPED = f'(object (pair key: (_) @key (#match? @key "{_OF_TOOLS}"))) @value'
_CLASS = "(class_declaration (class_heritage) @of body: (class_body) @body)"
_TOOL_CLASS = re.compile(r"\s*extends\s+[\w$.]*Tool\b")
_DYNAMIC = re.compile(r"\b(?:registerTool|tool|addTool)\(\s*[\w$]+\.(?:schema\.|definition\.)?name\b")
_SCHEMAS = ("inputSchema", "input_schema", "parameters", "schema", "paramsSchema", "argsSchema", "zodSchema")
_DEEPEST = 4

Given = Mapping[str, Node]


def tools(programs: Sequence[Program]) -> Iterator[RegisteredTool]:
    """Yield every tool that the JavaScript and TypeScript programs of a package register."""
    looped = any(_DYNAMIC.search(program.text) for program in programs)
    for program in programs:
        for found in _in(program, looped=looped):
            if found is not None:
                yield found


def _in(program: Program, *, looped: bool) -> Iterator[RegisteredTool | None]:
    for found in find(program.root, program.language, _CALLED):
        yield _called(node_text(found["name"]), children_of(found["with"]), program.names)
    for pattern in (_LISTED, *((_LOOPED,) if looped else ())):
        for found in find(program.root, program.language, pattern):
            given = _pairs(found["value"])
            if "name" in given and "description" in given:
                yield _of_object(given, program.names)
    for found in find(program.root, program.language, _CLASS):
        if _TOOL_CLASS.match(node_text(found["of"])):
            yield _of_object(_members(found["body"]), program.names)


def _called(function: str, arguments: Sequence[Node], names: NameTable) -> RegisteredTool | None:
    if function == "registerAppTool":
        arguments = arguments[1:]
    if not arguments:
        return None
    first = _object(arguments[0], names)
    if first is not None:  # addTool({name, …})
        inner = first.get("schema")
        nested = _object(inner, names) if inner is not None and "name" not in first else None
        return _of_object(nested or first, names)
    if len(arguments) < 2:
        return None
    name = names.text(arguments[0])
    given = _object(arguments[1], names) or {}
    if "description" in given or function != "tool":
        return tool(name, names.text(given.get("description"), partly=True), _arguments_of(given, names))
    described = names.text(arguments[1], partly=True)
    schema = arguments[2] if described is not None and len(arguments) > 2 else arguments[1]
    return tool(name, described, _keys(schema, names, 0)) if len(arguments) > 2 or described is None else None


def _of_object(given: Given, names: NameTable) -> RegisteredTool | None:
    described = names.text(given.get("description"), partly=True)
    return tool(names.text(given.get("name")), described, _arguments_of(given, names))


def _arguments_of(given: Given, names: NameTable) -> list[str]:
    schema = next((given[key] for key in _SCHEMAS if key in given), None)
    return _keys(schema, names, 0) if schema is not None else []


def _object(node: Node | None, names: NameTable) -> Given | None:
    for _ in range(_DEEPEST):
        if node is None:
            return None
        if node.type == "object":
            return _pairs(node)
        if node.type in ("as_expression", "satisfies_expression", "parenthesized_expression"):
            node = next(iter(children_of(node)), None)
        else:
            node = names.node(node_text(node)) if node.type in ("identifier", "shorthand_property_identifier") else None
    return None


def _pairs(value: Node) -> dict[str, Node]:
    found: dict[str, Node] = {}
    for child in children_of(value):
        key = child.child_by_field_name("key") if child.type == "pair" else None
        content = child.child_by_field_name("value") if child.type == "pair" else None
        if key is not None and content is not None:
            found[node_text(key).strip("\"'")] = content
        elif child.type == "shorthand_property_identifier":
            found[node_text(child)] = child
    return found


def _members(body: Node) -> dict[str, Node]:
    found: dict[str, Node] = {}
    for child in children_of(body):
        value = child.child_by_field_name("value")
        if value is not None:
            key = child.child_by_field_name("property") or child.child_by_field_name("name")
            found[node_text(key)] = value
    return found


def _keys(schema: Node | None, names: NameTable, depth: int) -> list[str]:
    """Return the property names of a schema in JSON Schema, zod, or a plain object of either."""
    if schema is None or depth > _DEEPEST:
        return []
    given = _object(schema, names)
    if given is not None:
        if "properties" in given:
            return _keys(given["properties"], names, depth + 1)
        stated = names.text(given.get("type"))
        return [] if stated == "object" else [key for key in given if not key.startswith("$")]
    if schema.type == "identifier":
        return _keys(names.node(node_text(schema)), names, depth + 1)
    if schema.type == "call_expression":
        return _keys(next(iter(children_of(schema.child_by_field_name("arguments"))), None), names, depth + 1)
    return _keys(schema.child_by_field_name("object"), names, depth + 1) if schema.type == "member_expression" else []
