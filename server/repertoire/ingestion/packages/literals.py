"""Reads the texts that programs write down: literals, joined or named, never computed; what cannot be told is None."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator, Mapping

from tree_sitter import Node

from repertoire.ingestion.syntax import PYTHON, find, named, source

_LONGEST = 20_000
_DEEPEST = 12
_ESCAPE = re.compile(r"\\(u\{[0-9a-fA-F]{1,6}\}|u[0-9a-fA-F]{4}|x[0-9a-fA-F]{2}|\r?\n|.)", re.DOTALL)
_PLAIN = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f", "v": "\v", "0": "", "\n": "", "\r\n": ""}
_UNKNOWN = "…"
_WRAPPED = frozenset(("parenthesized_expression", "as_expression", "satisfies_expression", "non_null_expression"))
# what leaves a text as it is, for whoever reads it
_KEEPS = frozenset("strip rstrip lstrip trim trimStart trimEnd dedent cleandoc value toString String str".split())
_NAMES = {
    PYTHON: (
        "(assignment left: (identifier) @name right: (_) @value)",
        "(class_definition name: (identifier) @class body: (block (expression_statement "
        "(assignment left: (identifier) @name right: (_) @value))))",
    ),
    "": (
        "(variable_declarator name: (identifier) @name value: (_) @value)",
        "(variable_declarator name: (identifier) @class value: (object (pair key: (_) @name value: (_) @value)))",
    ),
}
_ENUM = (
    "(enum_declaration name: (identifier) @class body: (enum_body (enum_assignment name: (_) @name value: (_) @value)))"
)


class Names:
    """What the names of one program stand for, and those of the package around it that it may import."""

    def __init__(self, root: Node, language: str, around: Mapping[str, str] | None = None) -> None:
        self._nodes: dict[str, list[Node]] = {}
        self._around = around or {}
        patterns = _NAMES[PYTHON] if language == PYTHON else _NAMES[""]
        for pattern in (*patterns, *((_ENUM,) if language in ("typescript", "tsx") else ())):
            for found in find(root, language, pattern):
                holder = f"{source(found['class'])}." if "class" in found else ""
                self._nodes.setdefault(holder + source(found["name"]).strip("\"'"), []).append(found["value"])

    def texts(self) -> Iterator[tuple[str, str]]:
        """Yield every name that stands for one text."""
        for name in self._nodes:
            told = self._stated(name, 0)
            if told is not None:
                yield name, told

    def node(self, name: str) -> Node | None:
        """Return the one value that a name is given; None where it has several, or none here."""
        nodes = self._nodes.get(name, ())
        return nodes[0] if len(nodes) == 1 else None

    def text(self, node: Node | None, *, partly: bool = False) -> str | None:
        """Return the text that an expression stands for; `partly` puts a mark where a part of it cannot be told."""
        return self._text(node, 0, partly=partly)

    def _stated(self, name: str, depth: int) -> str | None:
        found = {self._text(node, depth + 1, partly=False) for node in self._nodes.get(name, ())}
        if len(found) == 1:
            return found.pop()
        return None if found else self._around.get(name)

    def _text(self, node: Node | None, depth: int, *, partly: bool) -> str | None:
        if node is None or depth > _DEEPEST:
            return None
        if node.type in ("string", "template_string"):
            return self._literal(node, depth, partly=partly)
        if node.type in ("identifier", "shorthand_property_identifier"):
            return self._stated(source(node), depth)
        if node.type in ("attribute", "member_expression"):
            return self._stated(source(node).removesuffix(".value"), depth)
        if node.type in ("concatenated_string", "binary_operator", "binary_expression"):
            return self._joined(node, depth, partly=partly)
        if node.type in _WRAPPED:
            return self._text(next(iter(named(node)), None), depth + 1, partly=partly)
        if node.type in ("call", "call_expression"):
            return self._called(node, depth, partly=partly)
        return None

    def _joined(self, node: Node, depth: int, *, partly: bool) -> str | None:
        operator = node.child_by_field_name("operator")
        if operator is not None and source(operator) != "+":
            return None
        return _together((self._text(part, depth + 1, partly=partly) for part in named(node)), partly=partly)

    def _called(self, node: Node, depth: int, *, partly: bool) -> str | None:
        function = node.child_by_field_name("function")
        if function is None:
            return None
        holder = function.child_by_field_name("object")
        name = source(function).rpartition(".")[2]
        arguments = named(node.child_by_field_name("arguments"))
        if name == "join":
            separator, parts = (
                (arguments[:1], holder) if holder is not None and holder.type == "array" else ([holder], arguments)
            )
            listed = named(
                parts[0] if isinstance(parts, list) and parts else parts if isinstance(parts, Node) else None
            )
            between = self._text(separator[0], depth + 1, partly=False) if separator else ","
            texts = [self._text(part, depth + 1, partly=partly) for part in listed]
            known = [text for text in texts if text is not None]
            return (between or " ").join(known) if known and (partly or len(known) == len(texts)) else None
        if name not in _KEEPS:
            return None
        kept = holder if holder is not None and holder.type not in ("identifier",) else None
        if kept is None:
            kept = arguments[0] if arguments else holder
        return self._text(kept, depth + 1, partly=partly)

    def _literal(self, node: Node, depth: int, *, partly: bool) -> str | None:
        inner = [child for child in node.named_children if child.type in ("interpolation", "template_substitution")]
        if not inner:
            return _plain(node)
        pieces: list[str | None] = []
        for child in node.children:
            if child.type in ("string_content", "string_fragment"):
                pieces.append(_unescaped(source(child, _LONGEST)))
            elif child.type == "escape_sequence":
                pieces.append(_unescaped(source(child)))
            elif child in inner:
                pieces.append(self._text(next(iter(named(child)), None), depth + 1, partly=partly))
        return _together(pieces, partly=partly)


def _together(pieces: Iterable[str | None], *, partly: bool) -> str | None:
    listed = list(pieces)
    known = [piece for piece in listed if piece is not None]
    if not known or (len(known) < len(listed) and not partly):
        return None
    return "".join(_UNKNOWN if piece is None else piece for piece in listed)[:_LONGEST]


def _plain(node: Node) -> str | None:
    text = source(node, _LONGEST + 10)
    if node.children and node.children[0].type == "string_start":
        try:
            value = ast.literal_eval(text)
        except (ValueError, SyntaxError, MemoryError, RecursionError):
            return None
        return value if isinstance(value, str) else None
    return _unescaped(text[1:-1])


def _unescaped(text: str) -> str:
    return _ESCAPE.sub(_character, text)


def _character(match: re.Match[str]) -> str:
    told = match.group(1)
    if told[0] in "ux" and len(told) > 1:
        code = int(told[1:].strip("{}"), 16)
        return chr(code) if code < 0x110000 else ""
    return _PLAIN.get(told, told)
