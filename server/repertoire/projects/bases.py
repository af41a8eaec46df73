"""Finds the types that a definition is derived from, in the way of each language."""

from __future__ import annotations

from collections.abc import Iterator

from tree_sitter import Node

from repertoire import syntax
from repertoire.projects.names import UNKNOWN, dotted

Bases = Iterator[tuple[tuple[str, ...], bool]]  # a type as names, and whether it is implemented rather than extended


def bases_of(node: Node, language: str) -> Bases:
    """Yield each base of a class, interface, structure or `impl`."""
    for base, implements in _nodes(node, language):
        target = dotted(base)
        if target[-1] != UNKNOWN:
            yield target, implements


def _nodes(node: Node, language: str) -> Iterator[tuple[Node, bool]]:
    if language == syntax.PYTHON and node.type == "class_definition":
        listed = node.child_by_field_name("superclasses")
        for child in listed.named_children if listed else ():
            if child.type in ("identifier", "attribute"):
                yield child, False
            elif child.type == "subscript" and (value := child.child_by_field_name("value")):
                yield value, False
    elif language in (*syntax.NODE, syntax.JAVA):
        yield from _clauses(node)
    elif language == syntax.RUST and node.type == "impl_item":
        trait = node.child_by_field_name("trait")
        if trait is not None:
            yield trait, True


def _clauses(node: Node) -> Iterator[tuple[Node, bool]]:
    """Yield the types in `extends` and `implements` clauses."""
    waiting = [
        (child, "implement" in child.type or "super_interfaces" in child.type)
        for child in node.children
        if child.type
        in (
            *("class_heritage", "extends_clause", "extends_type_clause", "implements_clause"),
            *("superclass", "super_interfaces", "extends_interfaces"),
        )
    ]
    while waiting:
        found, implements = waiting.pop(0)
        for child in found.named_children:
            if child.type in ("extends_clause", "implements_clause", "type_list", "interface_type_list"):
                waiting.append((child, implements or child.type == "implements_clause"))
            elif child.type != "type_arguments":
                yield child, implements
