"""Compiles expressions for what is said in words, which are of any script and parted by any white space."""

from __future__ import annotations

from repertoire import linear

_OF_ASCII = linear.compile(r"\[(?:\\.|[^\]\\])*\]|\\w|\\s\+")  # as RE2 reads it


def compile_prose(pattern: str, *, verbose: bool = False) -> linear.Pattern:
    r"""Compile RE2's syntax, where `\w` is a letter of any script, and `\s+` white space of any kind."""
    return linear.compile(_OF_ASCII.sub(_of_any, pattern), verbose=verbose)


def _of_any(match: linear.Match) -> str:
    part: str = match.group()
    if part.startswith("["):
        return part.replace(r"\w", linear.WORD.strip("[]"))
    return linear.WORD if part == r"\w" else f"{linear.SPACE}+"
