"""Reads names, signatures and comments of syntax nodes, in the way of each language."""

from __future__ import annotations

from tree_sitter import Node

from repertoire import syntax
from repertoire.syntax import node_text

UNKNOWN = "?"  # stands in a dotted name for an expression that is no name
_SIGNATURE, _DOC = 300, 600  # characters
_NAMED_PARTS = 6
_NAME_BYTES = 480  # of the longest text that may be a name; that of a call has all that it is called on
_IN_DOTS = frozenset(
    (
        *("attribute", "member_expression", "field_expression", "selector_expression", "scoped_identifier"),
        *("method_invocation", "scoped_type_identifier", "nested_identifier", "qualified_type"),
    )
)
_RECEIVERS = ("object", "value", "operand", "path", "argument", "package", "scope")
_MEMBERS = ("attribute", "property", "field", "name")
_WRAPPERS = ("export_statement", "decorated_definition", "ambient_declaration", "lexical_declaration")
_AROUND = (*_WRAPPERS, "variable_declaration", "type_declaration")
_SELF = ("this", "self", "super", "crate")


def name_of(node: Node) -> str:
    """Return the name of a definition; empty for one without."""
    if node.type == "impl_item":
        return dotted(node.child_by_field_name("type"))[-1]
    name = node.child_by_field_name("name") or node.child_by_field_name("property")
    return node_text(name, 120)


def dotted(node: Node | None) -> tuple[str, ...]:
    """Return an expression such as `a.b.c` as its names; what is no name is UNKNOWN."""
    parts: list[str] = []
    while node is not None and len(parts) < _NAMED_PARTS:
        if node.type in _IN_DOTS:
            parts.append(_field(node, _MEMBERS))
            receiver = next((found for name in _RECEIVERS if (found := node.child_by_field_name(name))), None)
            if receiver is None:
                return tuple(reversed(parts))
            node = receiver
        elif node.type in ("generic_type", "generic_function", "parenthesized_expression", "pointer_type"):
            node = node.child_by_field_name("type") or node.child_by_field_name("function") or _first(node)
        elif node.type in ("call", "call_expression") and _word(node.child_by_field_name("function")) == "super":
            return ("super", *reversed(parts))
        else:
            parts.append(_word(node))
            break
    return tuple(reversed(parts)) or (UNKNOWN,)


def _word(node: Node | None) -> str:
    """Return the name that a node is; UNKNOWN where it is none."""
    if node is None or node.end_byte - node.start_byte > _NAME_BYTES:
        return UNKNOWN
    text = node_text(node, 120)
    return text if text.isidentifier() or text in _SELF or node.type == "identifier" else UNKNOWN


def _field(node: Node, names: tuple[str, ...]) -> str:
    return next((node_text(found, 120) for name in names if (found := node.child_by_field_name(name))), UNKNOWN)


def _first(node: Node) -> Node | None:
    return node.named_children[0] if node.named_child_count else None


def outer(node: Node) -> Node:
    """Return the statement around a definition: its decorators, its `export`, its `const`."""
    while node.parent is not None and node.parent.type in _AROUND:
        node = node.parent
    return node


def is_exported(node: Node, name: str, language: str) -> bool:
    """Tell whether other files may use a definition, by the rule of its language."""
    if language in syntax.NODE:
        around = outer(node)
        return around.type == "export_statement" or around.parent is None or around.parent.type == "export_statement"
    if language == syntax.GO:
        return name[:1].isupper()
    if language == syntax.RUST:
        return any(child.type == "visibility_modifier" for child in node.children[:2])
    if language == syntax.JAVA:
        return "public" in node_text(next((c for c in node.children if c.type == "modifiers"), None))
    return not name.startswith("_")


def signature(node: Node) -> str:
    """Return the head of a definition, up to its body, in one line."""
    body = node.child_by_field_name("body")
    if body is None and (value := node.child_by_field_name("value")) is not None:
        body = value.child_by_field_name("body")
    text = (node.text or b"")[: body.start_byte - node.start_byte if body is not None else None]
    return (
        " ".join(text[: 8 * _SIGNATURE].decode("utf-8", "replace").split())
        .rstrip(" {:")
        .removesuffix("=>")
        .rstrip(" =")[:_SIGNATURE]
    )


def documentation(node: Node, language: str) -> tuple[str, int]:
    """Return what a definition says of itself, and the first line (from 0) of its comments, decorators and text."""
    around = outer(node)
    first = around.start_point.row
    if language == syntax.PYTHON:
        return docstring(node.child_by_field_name("body")), first
    told: list[str] = []
    before = around.prev_named_sibling
    while before is not None and before.end_point.row >= first - 1 - (before.end_point.column == 0):
        if "comment" in before.type:
            told.insert(0, _plain(node_text(before, 2 * _DOC)))
        elif before.type not in ("attribute_item", "decorator"):
            break
        first = before.start_point.row
        before = before.prev_named_sibling
    return " ".join(" ".join(told).split())[:_DOC], first


def docstring(body: Node | None) -> str:
    """Return the text at the beginning of a Python block; empty without one."""
    statement = next((child for child in body.named_children if child.type != "comment"), None) if body else None
    if statement is None or statement.type != "expression_statement" or not statement.named_child_count:
        return ""
    value = statement.named_children[0]
    if value.type != "string":
        return ""
    content = " ".join(node_text(child, 2 * _DOC) for child in value.named_children if child.type == "string_content")
    return " ".join(content.split())[:_DOC]


def _plain(comment: str) -> str:
    lines = (line.strip().lstrip("/*!#").rstrip("*/").strip() for line in comment.splitlines())
    return " ".join(line for line in lines if line)
