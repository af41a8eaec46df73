"""Reads what a program imports, in the way of each language."""

from __future__ import annotations

import posixpath
from collections.abc import Callable, Iterator, Mapping, Sequence

from tree_sitter import Node

from repertoire import syntax
from repertoire.domain.project import Import
from repertoire.syntax import node_text

_MOST = 2_000  # of one file
_STAR = "*"


def imports_of(found: Mapping[str, Sequence[Node]], language: str) -> Iterator[Import]:
    """Yield each name that the captured import statements of a program bring into it."""
    number = 0
    for node in (*found.get("import", ()), *found.get("required", ())):
        for one in _READERS[language](node):
            number += 1
            if number > _MOST:
                return
            yield one


def _python(node: Node) -> Iterator[Import]:
    if node.type == "import_statement":
        for name in node.children_by_field_name("name"):
            if name.type == "aliased_import":
                alias = node_text(name.child_by_field_name("alias"))
                yield Import(node_text(name.child_by_field_name("name")), alias=alias)
            else:
                whole = node_text(name)
                yield Import(whole, alias=whole)  # `import a.b` binds `a`; the whole path is written at each use
        return
    module = node_text(node.child_by_field_name("module_name"))
    for name in node.children_by_field_name("name"):
        if name.type == "aliased_import":
            taken = node_text(name.child_by_field_name("name"))
            yield Import(module, taken, node_text(name.child_by_field_name("alias")))
        else:
            yield Import(module, node_text(name), node_text(name))
    if any(child.type == "wildcard_import" for child in node.children):
        yield Import(module, _STAR, _STAR)


def _script(node: Node) -> Iterator[Import]:
    if node.type == "variable_declarator":
        yield from _required(node)
        return
    module = node_text(node.child_by_field_name("source")).strip("'\"`")
    clause = next((child for child in node.named_children if child.type in ("import_clause", "export_clause")), None)
    if node.type == "export_statement" and clause is None:
        yield Import(module, _STAR, _STAR)
    for child in clause.named_children if clause is not None else ():
        if child.type == "identifier":
            yield Import(module, "default", node_text(child))
        elif child.type == "namespace_import":
            yield Import(module, "", node_text(child.named_children[-1] if child.named_child_count else None))
        elif child.type == "export_specifier":
            yield _specified(module, child)
        elif child.type == "named_imports":
            for one in child.named_children:
                if one.type == "import_specifier":
                    yield _specified(module, one)


def _specified(module: str, node: Node) -> Import:
    name = node_text(node.child_by_field_name("name"))
    return Import(module, name, node_text(node.child_by_field_name("alias")) or name)


def _required(node: Node) -> Iterator[Import]:
    """Yield what `const a = require("b")` brings."""
    call = node.child_by_field_name("value")
    if call is None or node_text(call.child_by_field_name("function")) != "require":
        return
    given = call.child_by_field_name("arguments")
    module = node_text(given.named_children[0] if given is not None and given.named_child_count else None)
    target = node.child_by_field_name("name")
    if target is None or module[:1] not in "'\"`":
        return
    if target.type == "identifier":
        yield Import(module.strip("'\"`"), "", node_text(target))
    for child in target.named_children if target.type == "object_pattern" else ():
        key = child.child_by_field_name("key") or child
        value = child.child_by_field_name("value") or child
        yield Import(module.strip("'\"`"), node_text(key), node_text(value))


def _go(node: Node) -> Iterator[Import]:
    path = node_text(node.child_by_field_name("path")).strip('"`')
    yield Import(path, alias=node_text(node.child_by_field_name("name")) or posixpath.basename(path))


def _rust(node: Node) -> Iterator[Import]:
    waiting: list[tuple[str, Node | None]] = [("", node.child_by_field_name("argument"))]
    while waiting:
        above, part = waiting.pop(0)
        if part is None:
            continue
        if part.type == "use_list":
            waiting.extend((above, child) for child in part.named_children)
        elif part.type == "scoped_use_list":
            path = node_text(part.child_by_field_name("path"))
            waiting.append((f"{above}::{path}".strip(":"), part.child_by_field_name("list")))
        elif part.type == "use_as_clause":
            whole = f"{above}::{node_text(part.child_by_field_name('path'))}".strip(":")
            yield _used(whole, node_text(part.child_by_field_name("alias")))
        elif part.type == "use_wildcard":
            whole = f"{above}::{node_text(part)}".strip(":")
            yield Import(whole.removesuffix("*").strip(":"), _STAR, _STAR)
        else:
            yield _used(f"{above}::{node_text(part)}".strip(":"), "")


def _used(whole: str, alias: str) -> Import:
    module, _, name = whole.rpartition("::")
    if name == "self":
        return Import(module, "", alias or module.rpartition("::")[2])
    return Import(module, name, alias or name)


def _java(node: Node) -> Iterator[Import]:
    whole = next((node_text(c) for c in node.named_children if c.type in ("scoped_identifier", "identifier")), "")
    if any(child.type == "asterisk" for child in node.named_children):
        yield Import(whole, _STAR, _STAR)
    else:
        module, _, name = whole.rpartition(".")
        yield Import(module, name, name)


_READERS: Mapping[str, Callable[[Node], Iterator[Import]]] = {
    syntax.PYTHON: _python,
    **dict.fromkeys(syntax.NODE, _script),
    syntax.GO: _go,
    syntax.RUST: _rust,
    syntax.JAVA: _java,
}
