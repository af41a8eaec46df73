"""Repairs the lines of a client before the protocol reads them: with a lone surrogate, a request has no answer."""

from __future__ import annotations

import io
import json
import sys

import anyio

from repertoire.domain.text import sendable

_HALF = "\\ud"  # the beginning of an escaped surrogate in JSON; a client that cuts a text may cut an emoji in two


def client_lines() -> anyio.AsyncFile[str]:
    """Return stdin as a file of lines."""
    return anyio.wrap_file(_Lines(sys.stdin.buffer, encoding="utf-8", errors="replace"))


def readable(line: str) -> str:
    """Return a message with every lone surrogate replaced; a line that is not JSON stays unchanged."""
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
