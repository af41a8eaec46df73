"""Lets standard output take any character: one that its encoding lacks becomes a question mark instead of an error."""

from __future__ import annotations

import codecs
import io
import sys


def print_any_character() -> None:
    """Let a character that a terminal or pipe cannot take, as Chinese in Windows-1252, cost itself alone."""
    if isinstance(sys.stdout, io.TextIOWrapper) and not is_utf_8():
        sys.stdout.reconfigure(errors="replace")


def is_utf_8() -> bool:
    """Tell whether standard output takes any character."""
    return codecs.lookup(getattr(sys.stdout, "encoding", None) or "utf-8").name == "utf-8"
