"""Reads what the client tells a hook: one JSON object on standard input."""

from __future__ import annotations

import contextlib
import json
import os
import sys
from typing import Any

_MOST = 1_000_000  # bytes; a client tells some hundred
_AT_ONCE = 65_536


def read_told() -> dict[str, Any]:
    """Return the object as soon as it came whole, even if the input stays open; an empty one for an empty input.

    Raises: ValueError when something else comes.
    """
    told = b""
    source = sys.stdin.fileno()
    while len(told) < _MOST and (more := os.read(source, _AT_ONCE)):
        told += more
        with contextlib.suppress(ValueError):  # more is to come
            found = json.loads(told.decode("utf-8", "replace"))  # Windows would read it otherwise
            if isinstance(found, dict):
                return found
    if told:
        message = "the client told no JSON object"
        raise ValueError(message)
    return {}
