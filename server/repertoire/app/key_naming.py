"""Finds what has a key, or the beginning of one, as a person copies it from a list."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple, TypeVar

from repertoire.domain.errors import UnknownComponent
from repertoire.domain.text import clean_line

_LEAST = 4  # characters of a beginning
_NAMED = 5  # an error names at most so many keys
Found = TypeVar("Found")


class Unknown(NamedTuple):
    """What an error calls the kind of thing, and what it says finds one."""

    what: str
    advice: str


def having_key(
    kind: str,
    asked: str,
    get: Callable[[str], Found | None],
    beginning: Callable[[str], Sequence[str]],
    unknown: Unknown,
) -> Found:
    """Return what has this key (with or without the kind before it), or the only one whose key begins so.

    `get` returns what has a key, `beginning` the keys that begin with a text.

    Raises:
        UnknownComponent: nothing has it, or several begin so.
    """
    key = f"{kind}:{asked.strip().removeprefix(f'{kind}:')}"
    found = get(key)
    near = beginning(key) if found is None and len(key) >= len(kind) + 1 + _LEAST else ()
    if len(near) == 1:
        found = get(near[0])
    if found is None:
        hint = f"it may be {', '.join(near[:_NAMED])}" if near else unknown.advice
        message = f"there is no {unknown.what} {clean_line(asked, 80)!r}; {hint}"
        raise UnknownComponent(message)
    return found
