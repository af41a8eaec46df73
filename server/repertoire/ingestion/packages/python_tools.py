"""Finds the tools that MCP servers written in Python register: by decorator, by call, and as values."""

from __future__ import annotations

import inspect
from collections.abc import Iterator, Mapping, Sequence

from tree_sitter import Node

from repertoire.ingestion.packages.literals import NameTable
from repertoire.ingestion.packages.registered_tools import Program, RegisteredTool, tool
from repertoire.syntax import PYTHON, children_of, find, node_text

_DECORATED = "(decorated_definition (decorator (_) @by) definition: (function_definition) @function)"
_CALLED = (
    "(call function: [(identifier) @name (attribute attribute: (identifier) @name)] arguments: (argument_list) @with "
    '(#any-of? @name "Tool" "MCPTool" "add_tool" "from_function" "tool")) @call'
)
_WRAPPED = (
    "(call function: (call function: (attribute attribute: (identifier) @name)) @by arguments: (argument_list) @with "
    '(#eq? @name "tool"))'
)
_VALUE = '(dictionary (pair key: (string) @key (#match? @key "^.(inputSchema|input_schema).$"))) @value'
_FUNCTION = "(function_definition name: (identifier) @name) @function"
_INHERITED = (
    "(call function: (attribute object: (call function: (identifier) @super) attribute: (identifier) @init) "
    'arguments: (argument_list) @with (#eq? @super "super") (#eq? @init "__init__"))'
)
_STATED = "(assignment left: [(identifier) (attribute)] @name right: (_) @value)"
_INJECTED = ("Context", "Request", "RequestContext")


def tools(programs: Sequence[Program]) -> Iterator[RegisteredTool]:
    """Yield every tool that the Python programs of a package register."""
    functions = {
        node_text(found["name"]): (program, found["function"])
        for program in programs
        for found in find(program.root, PYTHON, _FUNCTION)
    }
    for program in programs:
        for found in _in(program, functions):
            if found is not None:
                yield found


def _in(program: Program, functions: Mapping[str, tuple[Program, Node]]) -> Iterator[RegisteredTool | None]:
    for found in find(program.root, PYTHON, _DECORATED):
        given = _decorates(found["by"])
        if given is not None:
            yield _of_function(found["function"], program.names, given, program.names)
    for found in find(program.root, PYTHON, _WRAPPED):
        given, wrapped = (
            _decorates(found["by"]),
            functions.get(node_text(next(iter(children_of(found["with"])), None))),
        )
        if given is not None and wrapped is not None:
            yield _of_function(wrapped[1], program.names, given, wrapped[0].names)
    for found in find(program.root, PYTHON, _CALLED):
        given = _arguments(found["with"])
        if node_text(found["name"]) in ("Tool", "MCPTool"):
            yield _of_value(given, program.names)
        elif node_text(found["name"]) != "tool" or "name" in given:
            function = functions.get(node_text(given.get("fn", given.get("0"))).rpartition(".")[2])
            yield _handed_over(given, program.names, function)
    for found in find(program.root, PYTHON, _VALUE):
        yield _of_value(_pairs(found["value"], program.names), program.names)


Given = dict[str, Node | None]


def _handed_over(given: Given, names: NameTable, function: tuple[Program, Node] | None) -> RegisteredTool | None:
    """Return the tool of `server.add_tool(function, name=…)`; the function may be an expression."""
    if function is not None and given.get("0", given.get("fn")) is not None:
        return _of_function(function[1], names, {**given, "0": None}, function[0].names)
    return tool(names.text(given.get("name")), names.text(given.get("description"), partly=True))


def _decorates(by: Node) -> Given | None:
    """Return the arguments of a decorator `@server.tool(...)`; None if it is another decorator."""
    target = by.child_by_field_name("function") if by.type == "call" else by
    name = node_text(target).rpartition(".")[2]
    given = _arguments(by.child_by_field_name("arguments")) if by.type == "call" else {}
    if target is None or "agent" in node_text(target).lower():  # agents of a framework have tools too
        return None
    if name == "tool" and target.type == "attribute":
        return given
    # a server's own decorator, such as `@register_tool("name")`
    own = name.endswith("tool") and (given.get("name") or given.get("0")) is not None
    return given if own else None


def _arguments(node: Node | None) -> Given:
    found: Given = {}
    for place, argument in enumerate(children_of(node)):
        if argument.type == "keyword_argument":
            found[node_text(argument.child_by_field_name("name"))] = argument.child_by_field_name("value")
        else:
            found[str(place)] = argument
    return found


def _pairs(value: Node, names: NameTable) -> Given:
    found: Given = {}
    for pair in children_of(value):
        key = names.text(pair.child_by_field_name("key")) if pair.type == "pair" else None
        if key:
            found[key] = pair.child_by_field_name("value")
    return found


def _of_function(function: Node, names: NameTable, given: Given, own: NameTable) -> RegisteredTool | None:
    stated = given.get("name") or given.get("0")
    name = names.text(stated) if stated is not None else node_text(function.child_by_field_name("name"))
    described = names.text(given.get("description"), partly=True) or docstring(function, own)
    return tool(name, described, list(parameters(function)))


def _of_value(given: Given, names: NameTable) -> RegisteredTool | None:
    if "func" in given or not given.keys() & {"inputSchema", "input_schema", "parameters", "description"}:
        return None  # a tool of an agent framework
    schema = given.get("inputSchema") or given.get("input_schema") or given.get("parameters")
    if schema is not None and schema.type == "identifier":
        schema = names.node(node_text(schema))
    listed: list[str] = []
    if schema is not None and schema.type == "dictionary":
        fields = _pairs(schema, names).get("properties")
        listed = list(_pairs(fields, names)) if fields is not None and fields.type == "dictionary" else []
    name = names.text(given.get("name")) or _of_its_class(given.get("name"), names)
    return tool(name, names.text(given.get("description"), partly=True), listed)


def _of_its_class(node: Node | None, names: NameTable) -> str | None:
    """Return the text of `self.name`: the class's own value, or the argument for its base class."""
    if node is None or node.type != "attribute" or not node_text(node).startswith("self."):
        return None
    around = node.parent
    while around is not None and around.type != "class_definition":
        around = around.parent
    for found in find(around, PYTHON, _INHERITED) if around is not None else ():
        return names.text(next(iter(children_of(found["with"])), None))
    for found in find(around, PYTHON, _STATED) if around is not None else ():
        if node_text(found["name"]).rpartition(".")[2] == node_text(node).rpartition(".")[2]:
            return names.text(found["value"])
    return None


def docstring(definition: Node, names: NameTable) -> str:
    """Return the docstring of a function or class."""
    first = next(iter(children_of(definition.child_by_field_name("body"))), None)
    inner = next(iter(children_of(first)), None) if first is not None and first.type == "expression_statement" else None
    if inner is None or inner.type not in ("string", "concatenated_string"):
        return ""
    return inspect.cleandoc(names.text(inner, partly=True) or "")


def parameters(function: Node) -> Iterator[str]:
    """Yield the parameters of a function with their stated types, without those that the framework passes in."""
    for node in children_of(function.child_by_field_name("parameters")):
        stated = node.child_by_field_name("type")
        name = node_text(node.child_by_field_name("name") or (children_of(node) or [node])[0])
        kind = " ".join(node_text(stated, 60).split()) if stated is not None else ""
        if name in ("self", "cls", "*", "/") or kind.rpartition(".")[2].partition("[")[0] in _INJECTED:
            continue
        if kind.startswith("Annotated["):
            kind = kind.removeprefix("Annotated[").partition(",")[0].strip()
        yield f"{name}: {kind}" if kind and len(kind) < 40 else name
