"""Stems text with the tokenizer of the full-text index, for a commons whose search must find what the index finds."""

from __future__ import annotations

import threading
from functools import cache

import apsw

_lock = threading.Lock()  # one connection, whatever the number of threads


@cache
def _tokenizer() -> tuple[apsw.Connection, apsw.FTS5Tokenizer]:
    connection = apsw.Connection(":memory:")
    return connection, connection.fts5_tokenizer("porter", ["unicode61"])


def stems(text: str) -> list[str]:
    """Return the stems of a text's words, in order, as SQLite's `porter unicode61` makes them."""
    with _lock:
        _, tokenizer = _tokenizer()
        found = tokenizer(text.encode("utf-8", "replace"), apsw.FTS5_TOKENIZE_DOCUMENT, None, include_offsets=False)
    return [str(stem) for token in found for stem in token]
