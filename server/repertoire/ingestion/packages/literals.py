"""Evaluates text expressions in programs (literals, concatenations, constants) without running them; else None."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator, Mapping, Sequence

from tree_sitter import Node

from repertoire.syntax import PYTHON, children_of, find, node_text

_LONGEST = 20_000
_DEEPEST = 12
_PARTS = 400
_GROWTH = 4  # characters that a program's names may stand for, for each of its own: `b=a+a` again and again is a bomb
_GIVEN = 20  # assignments to one name that are read
_ESCAPE = re.compile(r"\\(u\{[0-9a-fA-F]{1,6}\}|u[0-9a-fA-F]{4}|x[0-9a-fA-F]{2}|\r?\n|.)", re.DOTALL)
_PLAIN = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f", "v": "\v", "0": "", "\n": "", "\r\n": ""}
_UNKNOWN = "…"
_REFERENCES = ("identifier", "shorthand_property_identifier", "attribute", "member_expression")
_WRAPPED = frozenset(("parenthesized_expression", "as_expression", "satisfies_expression", "non_null_expression"))
# functions that keep a text's meaning
_KEEPS = frozenset("strip rstrip lstrip trim trimStart trimEnd dedent cleandoc value toString String str".split())
_OF_CLASS = (
    "(class_definition name: (identifier) @class body: (block (expression_statement (assignment "
    "left: (identifier) @name right: (_) @value))))"
)
_NAMES = {
    PYTHON: (
        "(assignment left: (identifier) @name right: (_) @value)",
        _OF_CLASS,
    ),
    "": (
        "(variable_declarator name: (identifier) @name value: (_) @value)",
        "(variable_declarator name: (identifier) @class value: (object (pair key: (_) @name value: (_) @value)))",
    ),
}
_ENUM = (
    "(enum_declaration name: (identifier) @class body: (enum_body (enum_assignment name: (_) @name value: (_) @value)))"
)


class NameTable:
    """The values of the names in one program, and the texts of names that it may import from its package."""

    def __init__(self, root: Node, language: str, around: Mapping[str, str] | None = None) -> None:
        self._nodes: dict[str, list[Node]] = {}
        self._evaluated: dict[str, str | None] = {}
        self._around = around or {}
        self._room = _GROWTH * (root.end_byte + _LONGEST)
        wrapped = dict.fromkeys(_WRAPPED, self._wrapped)
        self._readers: dict[str, Callable[[Node, int, bool], str | None]] = {
            **wrapped,
            **dict.fromkeys(("string", "template_string"), self._literal),
            **dict.fromkeys(_REFERENCES, self._reference),
            **dict.fromkeys(("concatenated_string", "binary_operator", "binary_expression"), self._joined),
            **dict.fromkeys(("call", "call_expression"), self._called),
        }
        patterns = _NAMES[PYTHON] if language == PYTHON else _NAMES[""]
        for pattern in (*patterns, *((_ENUM,) if language in ("typescript", "tsx") else ())):
            for found in find(root, language, pattern):
                holder = f"{node_text(found['class'])}." if "class" in found else ""
                self._nodes.setdefault(holder + node_text(found["name"]).strip("\"'"), []).append(found["value"])

    def texts(self) -> Iterator[tuple[str, str]]:
        """Yield each name in the program whose value is one known text, with that text."""
        for name in self._nodes:
            text = self._stated(name, 0)
            if text is not None:
                yield name, text

    def node(self, name: str) -> Node | None:
        """Return the one value that is assigned to a name; None if it has several or none."""
        nodes = self._nodes.get(name, ())
        return nodes[0] if len(nodes) == 1 else None

    def text(self, node: Node | None, *, partly: bool = False) -> str | None:
        """Evaluate an expression to its text; None if it is unknown. With `partly`, unknown parts become a mark."""
        return self._text(node, 0, partly=partly)

    def _stated(self, name: str, depth: int) -> str | None:
        if name not in self._nodes:
            return self._around.get(name)
        if name not in self._evaluated:
            self._evaluated[name] = None  # set first, so that a name that refers to itself ends
            found = {self._text(node, depth + 1, partly=False) for node in self._nodes[name][:_GIVEN]}
            text = found.pop() if len(found) == 1 else None
            self._room -= len(text or "")
            self._evaluated[name] = text if self._room >= 0 else None
        return self._evaluated[name]

    def _text(self, node: Node | None, depth: int, *, partly: bool) -> str | None:
        if node is None or depth > _DEEPEST:
            return None
        read = self._readers.get(node.type)
        return read(node, depth, partly) if read is not None else None

    def _reference(self, node: Node, depth: int, _partly: bool) -> str | None:  # noqa: FBT001 - one form for all
        return self._stated(node_text(node).removesuffix(".value"), depth)

    def _wrapped(self, node: Node, depth: int, partly: bool) -> str | None:  # noqa: FBT001
        return self._text(next(iter(children_of(node)), None), depth + 1, partly=partly)

    def _joined(self, node: Node, depth: int, partly: bool) -> str | None:  # noqa: FBT001
        parts: list[Node] = []
        left: Node | None = node
        while left is not None and left.type == node.type and len(parts) < _PARTS:
            operator = left.child_by_field_name("operator")
            if operator is not None and node_text(operator) != "+":
                return None
            inner = children_of(left)
            parts.extend(reversed(inner[1:]))
            left = inner[0] if inner else None
        listed = [left, *reversed(parts)]
        return _together([self._text(part, depth + 1, partly=partly) for part in listed], partly=partly)

    def _called(self, node: Node, depth: int, partly: bool) -> str | None:  # noqa: FBT001
        function = node.child_by_field_name("function")
        if function is None:
            return None
        holder = function.child_by_field_name("object")
        name = node_text(function).rpartition(".")[2]
        arguments = children_of(node.child_by_field_name("arguments"))
        if name == "join" and holder is not None:
            in_front = holder.type == "array"  # of JavaScript
            between, listed = (arguments[:1], [holder]) if in_front else ([holder], arguments[:1])
            return self._list_joined(between, listed, depth, partly)
        if name not in _KEEPS:
            return None
        by_name = holder is None or holder.type == "identifier"  # `textwrap.dedent("...")`, not `"...".strip()`
        return self._text(arguments[0] if by_name and arguments else holder, depth + 1, partly=partly)

    def _list_joined(self, between: Sequence[Node], listed: Sequence[Node], depth: int, partly: bool) -> str | None:  # noqa: FBT001
        texts = [self._text(part, depth + 1, partly=partly) for one in listed for part in children_of(one)[:_PARTS]]
        known = [text for text in texts if text is not None]
        if not known or (len(known) < len(texts) and not partly):
            return None
        separator = (self._text(between[0], depth + 1, partly=False) if between else ",") or ""
        joined = ""
        for number, text in enumerate(known):
            joined += separator + text if number else text
            if len(joined) > _LONGEST:  # a join of joins would be of any length
                break
        return joined[:_LONGEST]

    def _literal(self, node: Node, depth: int, partly: bool) -> str | None:  # noqa: FBT001
        inner = [child for child in node.named_children if child.type in ("interpolation", "template_substitution")]
        if not inner:
            return _plain(node)
        pieces: list[str | None] = []
        for child in node.children:
            if child.type in ("string_content", "string_fragment"):
                pieces.append(_unescaped(node_text(child, _LONGEST)))
            elif child.type == "escape_sequence":
                pieces.append(_unescaped(node_text(child)))
            elif child in inner:
                pieces.append(self._text(next(iter(children_of(child)), None), depth + 1, partly=partly))
        return _together(pieces, partly=partly)


def _together(listed: Sequence[str | None], *, partly: bool) -> str | None:
    known = [piece for piece in listed if piece is not None]
    if not known or (len(known) < len(listed) and not partly):
        return None
    return "".join(_UNKNOWN if piece is None else piece for piece in listed)[:_LONGEST]


def _plain(node: Node) -> str | None:
    text = node_text(node, _LONGEST + 10)
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
    escaped = match.group(1)
    if escaped[0] in "ux" and len(escaped) > 1:
        code = int(escaped[1:].strip("{}"), 16)
        return chr(code) if code < 0x110000 else ""
    return _PLAIN.get(escaped, escaped)
