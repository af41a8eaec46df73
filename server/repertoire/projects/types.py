"""Finds out which type a name has, where the program says it: annotations, parameters, and calls of a class."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

from tree_sitter import Node

from repertoire import syntax
from repertoire.projects.names import UNKNOWN, dotted
from repertoire.syntax import node_text

_MOST = 5_000  # names of one file
RETURNED = "()"
_SAME = ("=",)  # begins a type that is that of another name
_WRAPPERS = ("Optional", "Annotated", "Final", "ClassVar", "Type", "type")


Typed = Iterator[tuple[str, tuple[str, ...]]]


def types_of(
    found: Mapping[str, Sequence[Node]], language: str, scope: Callable[[Node], str]
) -> dict[str, tuple[str, ...]]:
    """Map `scope name` to a type as names; `()` at the end of a type says: what a call of it returns.

    A name of an object (`self.x`) has the scope of its method, as it is written there. What a function returns has the
    name RETURNED.
    """
    if language == syntax.GO:
        told = _go(found, scope)
    else:
        told = _python(found, scope) if language == syntax.PYTHON else iter(())
    types: dict[str, tuple[str, ...]] = {}
    for where, said in told:
        same = said[:1] == _SAME  # `self.x = x`: as the parameter
        target = types.get(f"{where.rpartition(' ')[0]} {said[1]}", ()) if same else said
        if target:
            types.setdefault(where, target)
    return types


def _go(found: Mapping[str, Sequence[Node]], scope: Callable[[Node], str]) -> Typed:
    for node in found.get("function", ())[:_MOST]:
        for name, told in _parameters(node):
            yield f"{scope(node)} {name}", told


def _python(found: Mapping[str, Sequence[Node]], scope: Callable[[Node], str]) -> Typed:
    for node in found.get("function", ())[:_MOST]:
        yield f"{scope(node)} {RETURNED}", annotated(node.child_by_field_name("return_type"))
    for node in found.get("typed", ())[:_MOST]:
        named = node.child_by_field_name("name") or (node.named_children[0] if node.named_child_count else None)
        yield f"{scope(node)} {node_text(named)}", annotated(node.child_by_field_name("type"))
    for node in found.get("assigned", ())[:_MOST]:
        name = node_text(node.child_by_field_name("left"), 80)
        if name.replace(".", "").isidentifier():
            told = annotated(node.child_by_field_name("type")) or _made(node.child_by_field_name("right"))
            yield f"{scope(node)} {name}", told


def _parameters(node: Node) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Yield the receiver and the parameters of a Go function with the types that they are declared to have."""
    for listed in (node.child_by_field_name("receiver"), node.child_by_field_name("parameters")):
        for one in listed.named_children if listed is not None else ():
            told = dotted(_pointed(one.child_by_field_name("type")))
            for name in one.children_by_field_name("name"):
                if UNKNOWN not in told:
                    yield node_text(name), told


def _pointed(node: Node | None) -> Node | None:
    return node.named_children[0] if node is not None and node.type == "pointer_type" else node


def annotated(node: Node | None) -> tuple[str, ...]:
    """Return the class that an annotation names: `X`, `X | None`, `Optional[X]`, `"X"`; empty for other ones."""
    while node is not None:
        if node.type in ("type", "parenthesized_expression") and node.named_child_count:
            node = node.named_children[0]
        elif node.type == "binary_operator":
            sides = (node.child_by_field_name("left"), node.child_by_field_name("right"))
            node = next((side for side in sides if side is not None and side.type != "none"), None)
        elif node.type in ("subscript", "generic_type"):
            node = _inside(node)
        elif node.type == "string":
            text = node_text(node).strip("'\"").partition("|")[0].strip()
            return tuple(text.split(".")) if text.replace(".", "").isidentifier() else ()
        else:
            target = dotted(node)
            return () if UNKNOWN in target else target
    return ()


def _inside(node: Node) -> Node | None:
    """Return the node that a generic type stands for: its argument where it only wraps one, else the type itself."""
    parts = node.named_children
    if not parts or dotted(parts[0])[-1] not in _WRAPPERS:
        return parts[0] if parts else None
    inner = parts[1] if len(parts) > 1 else None
    return inner.named_children[0] if inner is not None and inner.type == "type_parameter" else inner


def _made(node: Node | None) -> tuple[str, ...]:
    """Return the called name of a value such as `Class(…)`, marked as a call; or another name, marked as the same."""
    if node is not None and node.type == "await" and node.named_child_count:
        node = node.named_children[0]
    if node is not None and node.type == "identifier":
        return (*_SAME, node_text(node))
    if node is None or node.type != "call":
        return ()
    target = dotted(node.child_by_field_name("function"))
    return () if UNKNOWN in target else (*target, RETURNED)
