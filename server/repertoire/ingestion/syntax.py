"""Parses programs with tree-sitter, which takes what is broken too, and nests no deeper for what a stranger wrote."""

from __future__ import annotations

import importlib
from collections.abc import Iterator, Mapping
from functools import lru_cache

from tree_sitter import Language, Node, Parser, Query, QueryCursor, Tree

PYTHON, JAVASCRIPT, TYPESCRIPT, TSX = "python", "javascript", "typescript", "tsx"
NODE = (JAVASCRIPT, TYPESCRIPT, TSX)
MOST_BYTES = 2_000_000  # of one program; a larger one is a bundle of others
_MATCHES = 5_000
_DEEPEST = 400
_PIECES = 5_000
_CHUNK = 4_096  # bytes that the parser is handed at a time
# The parser looks in about once in a hundred bytes; where it tries to mend what is broken, it does so without end.
_LOOKS, _BYTES_A_LOOK = 2_000, 20
_GRAMMARS = {
    PYTHON: ("tree_sitter_python", "language"),
    JAVASCRIPT: ("tree_sitter_javascript", "language"),
    TYPESCRIPT: ("tree_sitter_typescript", "language_typescript"),
    TSX: ("tree_sitter_typescript", "language_tsx"),
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
    """Return the language of a file by its name; empty where no grammar reads it, or it declares types alone."""
    name = path.rpartition("/")[2].lower()
    if name.endswith((".d.ts", ".d.mts", ".d.cts")):
        return ""
    return _SUFFIXES.get("." + name.rpartition(".")[2], "") if "." in name else ""


def parse(text: str, language: str) -> Node:
    """Return the root of a program's tree.

    Raises:
        Unparsable: it is too large or too broken, or its grammar is not to be had here.
    """
    if len(text) > MOST_BYTES:
        message = f"larger than {MOST_BYTES:,} characters"
        raise Unparsable(message)
    root = _tree(text.encode("utf-8", "replace"), language).root_node
    if root.has_error and _is_rubble(root):
        message = f"not {language}, or too broken to be read"
        raise Unparsable(message)
    return root


def _tree(source: bytes, language: str) -> Tree:
    """Parse a program in work that is bounded by its length; no signal ends the parser while it mends."""
    left = _LOOKS + len(source) // _BYTES_A_LOOK

    def is_enough(_offset: int, _broken: bool) -> bool:  # noqa: FBT001 - as the parser calls it
        nonlocal left
        left -= 1
        return left < 0

    parser = Parser(_grammar(language))
    try:
        return parser.parse(lambda offset, _: source[offset : offset + _CHUNK], progress_callback=is_enough)
    except ValueError:
        message = f"not {language}, or too broken to be read"
        raise Unparsable(message) from None


def parsed(texts: Mapping[str, str], failed: list[str]) -> Iterator[tuple[str, str, str, Node]]:
    """Yield path, text, language and tree of each program; to `failed` goes what cannot be parsed, with the reason."""
    for path, text in texts.items():
        language = language_of(path)
        if language:
            try:
                root = parse(text, language)
            except Unparsable as error:
                failed.append(f"{path}: {error}")
            else:
                yield path, text, language, root


def _is_rubble(root: Node) -> bool:
    """Tell whether a tree has an error of very many pieces: a query's time grows with the square of their number."""
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
    """Yield what a query finds below a node, by capture, in the order of the text, up to a bound."""
    cursor = QueryCursor(_query(language, pattern))
    cursor.set_max_start_depth(_DEEPEST)
    matches = cursor.matches(root)
    for _, captures in matches[:_MATCHES]:
        yield {name: nodes[0] for name, nodes in captures.items()}


def source(node: Node | None, limit: int = 200) -> str:
    """Return the text of a node, up to a bound; empty where there is none."""
    if node is None or node.text is None:
        return ""
    return node.text[: limit * 4].decode("utf-8", "replace")[:limit]


def named(node: Node | None) -> list[Node]:
    """Return the named children of a node, without comments."""
    return [] if node is None else [child for child in node.named_children if child.type != "comment"]
