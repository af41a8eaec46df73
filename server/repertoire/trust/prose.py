"""Compiles RE2 expressions for prose, in which letters of any script and any white space count."""

from __future__ import annotations

from repertoire import linear

_OF_ASCII = linear.compile(r"\[(?:\\.|[^\]\\])*\]|\\w|\\s\+")  # parts that RE2 limits to ASCII


def compile_prose(pattern: str, *, verbose: bool = False) -> linear.LinearPattern:
    r"""Compile an RE2 expression in which `\w` matches letters of any script, and `\s+` any white space."""
    return linear.compile(_OF_ASCII.sub(_of_any, pattern), verbose=verbose)


def _of_any(match: linear.LinearMatch) -> str:
    part: str = match.group()
    if part.startswith("["):
        return part.replace(r"\w", linear.WORD.strip("[]"))
    return linear.WORD if part == r"\w" else f"{linear.SPACE}+"
