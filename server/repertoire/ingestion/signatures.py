"""Reads the public functions and classes of a program: their signatures, with the first line of their comments."""

from __future__ import annotations

from collections.abc import Iterator

from tree_sitter import Node

from repertoire import linear
from repertoire.domain.text import clean_line
from repertoire.syntax import PYTHON, children_of, node_text

_MOST, _DEFINITION, _SAID = 60, 200, 120
_FUNCTIONS = frozenset(
    "function_definition function_declaration generator_function_declaration method_definition arrow_function "
    "function_expression function".split()
)
_CLASSES = frozenset("class_definition class_declaration abstract_class_declaration class".split())
_MARKS = linear.compile(r"^[\s/*#]+|[\s*/]+$")
_QUOTES = linear.compile(r"^[rRbBuUfF]*(?:\"\"\"|'''|\"|')\s*|\s*(?:\"\"\"|'''|\"|')$")


def signatures(root: Node, language: str) -> list[tuple[str, str]]:
    """Return the name and the signature of each public function, class and method of a program, in order."""
    found: dict[str, str] = {}
    for name, definition, outer in _definitions(root):
        if name.startswith(("_", "#")) or len(found) >= _MOST:
            continue
        found.setdefault(name, _signature(name, definition, outer, language))
        if definition.type in _CLASSES:
            for member in children_of(definition.child_by_field_name("body")):
                inner = _inner(member)
                method = node_text(inner.child_by_field_name("name")) if inner.type in _FUNCTIONS else ""
                if method and not method.startswith(("_", "#")) and method != "constructor" and len(found) < _MOST:
                    found.setdefault(f"{name}.{method}", _signature(f"{name}.{method}", inner, member, language))
    return list(found.items())


def _definitions(root: Node) -> Iterator[tuple[str, Node, Node]]:
    """Yield each top-level definition of a program: its name, its node, and the statement around it."""
    for statement in children_of(root):
        node = _inner(statement)
        if node.type in _FUNCTIONS or node.type in _CLASSES:
            yield node_text(node.child_by_field_name("name")) or "default", node, statement
        elif node.type in ("lexical_declaration", "variable_declaration"):
            for declared in children_of(node):
                value = declared.child_by_field_name("value")
                if value is not None and (value.type in _FUNCTIONS or value.type in _CLASSES):
                    yield node_text(declared.child_by_field_name("name")), value, statement


def _inner(statement: Node) -> Node:
    """Return the definition inside an export or a decorator."""
    for field in ("declaration", "definition", "value"):
        inner = statement.child_by_field_name(field) if statement.type in _AROUND else None
        if inner is not None:
            return inner
    return statement


_AROUND = ("export_statement", "decorated_definition")


def _signature(name: str, definition: Node, outer: Node, language: str) -> str:
    if definition.type in _CLASSES:
        head = f"class {name}"
    else:
        taken = definition.child_by_field_name("parameters") or definition.child_by_field_name("parameter")
        listed = node_text(taken, _DEFINITION)
        returned = node_text(definition.child_by_field_name("return_type"), 60).lstrip(": ")
        head = f"{name}{listed if listed.startswith('(') else f'({listed})'}" + (f" -> {returned}" if returned else "")
    comment = _docstring(definition) if language == PYTHON else _comment(outer)
    return clean_line(head, _DEFINITION) + (f"  # {comment}" if comment else "")


def _docstring(definition: Node) -> str:
    first = next(iter(children_of(definition.child_by_field_name("body"))), None)
    inner = next(iter(children_of(first)), None) if first is not None and first.type == "expression_statement" else None
    text = _QUOTES.sub("", node_text(inner, 600)) if inner is not None and inner.type == "string" else ""
    return clean_line(next(iter(text.splitlines()), ""), _SAID)


def _comment(statement: Node) -> str:
    before = statement.prev_sibling
    if before is None or before.type != "comment":
        return ""
    lines = (_MARKS.sub("", line) for line in node_text(before, 600).splitlines())
    return clean_line(next((line for line in lines if line and not line.startswith("@")), ""), _SAID)
