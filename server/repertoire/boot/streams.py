"""Lets standard output take any character, and replaces standard streams that whoever starts the program has closed."""

from __future__ import annotations

import codecs
import io
import os
import sys


def print_any_character() -> None:
    """Let a character that a terminal or pipe cannot take, as Chinese in Windows-1252, cost itself alone."""
    if isinstance(sys.stdout, io.TextIOWrapper) and not is_utf_8():
        sys.stdout.reconfigure(errors="replace")


def replace_closed() -> None:
    """Give each closed standard stream (`>&-`) the null device, also in the programs that are started from here."""
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):  # in this order each gets its own number
        if getattr(sys, name) is None:
            stream = open(os.devnull, mode, encoding="utf-8")  # noqa: SIM115, PTH123 - stays open to the end
            os.set_inheritable(stream.fileno(), True)  # noqa: FBT003 - takes no keyword
            setattr(sys, name, stream)


def is_utf_8() -> bool:
    """Tell whether standard output takes any character."""
    return codecs.lookup(getattr(sys.stdout, "encoding", None) or "utf-8").name == "utf-8"
