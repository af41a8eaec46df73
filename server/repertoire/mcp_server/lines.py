"""Hands the protocol's reader only lines that it can read: half a surrogate pair would leave a request unanswered."""

from __future__ import annotations

import io
import json
import sys

import anyio

from repertoire.domain.text import sendable

_HALF = "\\ud"  # how JSON escapes a surrogate; a client that cuts a text in two may cut an emoji


def client_lines() -> anyio.AsyncFile[str]:
    """Return this process's input, line by line."""
    return anyio.wrap_file(_Lines(sys.stdin.buffer, encoding="utf-8", errors="replace"))


def readable(line: str) -> str:
    """Return a message with every half pair replaced; a line that is no JSON stays as it is."""
    if _HALF not in line.lower():
        return line
    try:
        message = json.loads(line)
    except (ValueError, RecursionError):
        return line
    return sendable(json.dumps(message, ensure_ascii=False)) + "\n"


class _Lines(io.TextIOWrapper):
    def readline(self, size: int = -1, /) -> str:  # type: ignore[override]
        return readable(super().readline(size))
