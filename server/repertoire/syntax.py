"""Parses programs with tree-sitter, which accepts broken code too, within bounds of time and size."""

from __future__ import annotations

import contextlib
import importlib
from _thread import start_new_thread
from collections.abc import Iterator, Mapping
from functools import lru_cache
from queue import SimpleQueue

from tree_sitter import Language, Node, Parser, Query, QueryCursor, Tree

PYTHON, JAVASCRIPT, TYPESCRIPT, TSX = "python", "javascript", "typescript", "tsx"
GO, RUST, JAVA = "go", "rust", "java"
NODE = (JAVASCRIPT, TYPESCRIPT, TSX)
MOST_BYTES = 2_000_000  # size of the largest program that is parsed; a larger one is a bundle of others
_MATCHES = 5_000
_DEEPEST = 400
_PIECES = 5_000
_CHUNK = 4_096  # bytes that the parser gets at a time
# The parser calls back about once in a hundred bytes; while it recovers from errors it calls back without end.
_LOOKS, _BYTES_A_LOOK = 2_000, 20
_GRAMMARS = {
    PYTHON: ("tree_sitter_python", "language"),
    JAVASCRIPT: ("tree_sitter_javascript", "language"),
    TYPESCRIPT: ("tree_sitter_typescript", "language_typescript"),
    TSX: ("tree_sitter_typescript", "language_tsx"),
    GO: ("tree_sitter_go", "language"),
    RUST: ("tree_sitter_rust", "language"),
    JAVA: ("tree_sitter_java", "language"),
}
_SUFFIXES = {
    ".py": PYTHON,
    ".js": JAVASCRIPT,
    ".mjs": JAVASCRIPT,
    ".cjs": JAVASCRIPT,
    ".jsx": JAVASCRIPT,
    ".ts": TYPESCRIPT,
    ".mts": TYPESCRIPT,
    ".cts": TYPESCRIPT,
    ".tsx": TSX,
}


class Unparsable(Exception):
    """A program that cannot be parsed; the message is the reason."""


def language_of(path: str) -> str:
    """Return a file's language by its name; empty if no grammar reads it, or if it only declares types."""
    name = path.rpartition("/")[2].lower()
    if name.endswith((".d.ts", ".d.mts", ".d.cts")):
        return ""
    return _SUFFIXES.get("." + name.rpartition(".")[2], "") if "." in name else ""


def parse(text: str, language: str) -> Node:
    """Parse a program; return the root of its syntax tree.

    Raises:
        Unparsable: the program is too large or too broken, or its grammar cannot be loaded.
    """
    if len(text) > MOST_BYTES:
        message = f"larger than {MOST_BYTES:,} characters"
        raise Unparsable(message)
    root = _tree(text.encode("utf-8", "replace"), language).root_node
    if root.has_error and _is_too_broken(root):
        message = f"not {language}, or too broken to be read"
        raise Unparsable(message)
    return root


def _tree(source: bytes, language: str) -> Tree:
    """Parse a program that is parsed in a number of steps bounded by its length; no signal could stop the parser.

    Whoever counts the steps cannot give the parser the bytes themselves. So it parses a second time, which costs less
    than texts of nodes that are asked for with a call each.
    """
    parser = Parser(_grammar(language))
    ended = SimpleQueue[bool]()
    # The process dies of an exception in what the parser calls; that of a signal comes in the main thread alone.
    # A `Thread` would run code in that one which loses such an exception.
    start_new_thread(_try, (parser, source, ended))
    if not ended.get():
        message = f"not {language}, or too broken to be read"
        raise Unparsable(message)
    return parser.parse(source)


def _try(parser: Parser, source: bytes, ended: SimpleQueue[bool]) -> None:
    left = _LOOKS + len(source) // _BYTES_A_LOOK
    is_parsed = False

    def is_enough(_offset: int, _broken: bool) -> bool:  # noqa: FBT001 - as the parser calls it
        nonlocal left
        left -= 1
        return left < 0

    try:
        with contextlib.suppress(ValueError):  # it was stopped
            parser.parse(lambda offset, _: source[offset : offset + _CHUNK], progress_callback=is_enough)
            is_parsed = True
    finally:
        ended.put(is_parsed)


def parsed(texts: Mapping[str, str], failed: list[str]) -> Iterator[tuple[str, str, str, Node]]:
    """Yield the path, text, language and tree of each program; add those that cannot be parsed to `failed`."""
    for path, text in texts.items():
        language = language_of(path)
        if language:
            try:
                root = parse(text, language)
            except Unparsable as error:
                failed.append(f"{path}: {error}")
            else:
                yield path, text, language, root


def _is_too_broken(root: Node) -> bool:
    """Tell whether a tree has an error node with very many children: a query takes time in the square of them."""
    waiting = [root]
    while waiting:
        node = waiting.pop()
        if node.type == "ERROR" and node.child_count > _PIECES:
            return True
        waiting.extend(child for child in node.children if child.has_error)
    return False


@lru_cache(maxsize=len(_GRAMMARS))
def _grammar(language: str) -> Language:
    module, function = _GRAMMARS[language]
    try:
        return Language(getattr(importlib.import_module(module), function)())
    except (ImportError, AttributeError, ValueError) as error:  # ValueError: a grammar of another tree-sitter
        message = f"the grammar of {language} cannot be loaded ({error})"
        raise Unparsable(message) from None


@lru_cache(maxsize=64)
def _query(language: str, pattern: str) -> Query:
    return Query(_grammar(language), pattern)


def find(root: Node, language: str, pattern: str) -> Iterator[dict[str, Node]]:
    """Yield the matches of a query below a node, each as captures by name, in text order, up to a bound."""
    cursor = QueryCursor(_query(language, pattern))
    cursor.set_max_start_depth(_DEEPEST)
    matches = cursor.matches(root)
    for _, captures in matches[:_MATCHES]:
        yield {name: nodes[0] for name, nodes in captures.items()}


def captures(root: Node, language: str, pattern: str) -> dict[str, list[Node]]:
    """Return the nodes below a node that a query captures, by the capture's name, in text order."""
    found = QueryCursor(_query(language, pattern)).captures(root)
    return {name: sorted(nodes, key=lambda node: (node.start_byte, -node.end_byte)) for name, nodes in found.items()}


def node_text(node: Node | None, limit: int = 200) -> str:
    """Return the text of a syntax node, up to a bound; empty for None."""
    text = node.text if node is not None else None
    return (text or b"")[: limit * 4].decode("utf-8", "replace")[:limit]


def children_of(node: Node | None) -> list[Node]:
    """Return the named children of a syntax node, without comments."""
    return [] if node is None else [child for child in node.named_children if child.type != "comment"]
