"""Makes untrusted values safe to store: bounded in size and depth, printable, and without aliases."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from typing import Any

from repertoire.domain.text import clean_line

_MAX_VALUES = 4_000  # scalars, lists and mappings in one document; an alias bomb expands to millions
_MAX_DEPTH = 40
_MAX_SCALAR = 20_000
_UNSTORABLE = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\ud800-\udfff]")
# An unclosed string ends with the text: otherwise each quote would be followed to the end of the text again.
_STRING = r'("(?:[^"\\]|\\.?)*"?)'
_COMMENT = re.compile(rf"{_STRING}|//[^\n]*|/\*.*?(?:\*/|\Z)", re.DOTALL)
_TRAILING_COMMA = re.compile(rf"{_STRING}|,(?=\s*[}}\]])", re.DOTALL)

NAME_LIMIT = 120


class Unusable(Exception):
    """A file that looked like a component and cannot be one; the message is the reason."""


def plain(value: Any) -> Any:
    """Copy a value as strings, numbers, lists and mappings, within bounds.

    Raises:
        Unusable: the value is nested too deep, or holds too many values.
    """
    budget = [_MAX_VALUES]
    return _plain(value, budget, 0)


def _plain(value: Any, budget: list[int], depth: int) -> Any:
    budget[0] -= 1
    if budget[0] < 0:
        message = f"more than {_MAX_VALUES:,} values"
        raise Unusable(message)
    if depth > _MAX_DEPTH:
        message = f"nested deeper than {_MAX_DEPTH} levels"
        raise Unusable(message)
    if isinstance(value, str):
        return storable(value)[:_MAX_SCALAR]
    if isinstance(value, Mapping):
        return {_key(key): _plain(item, budget, depth + 1) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(item, budget, depth + 1) for item in value]
    return value if isinstance(value, (bool, int, float)) or value is None else str(value)


def _key(key: Any) -> str:
    return clean_line(storable(str(key)), NAME_LIMIT)


def storable(text: str) -> str:
    """Remove the characters that UTF-8, SQLite or a terminal cannot handle."""
    return _UNSTORABLE.sub("", text)


def name(value: Any) -> str:
    """Return a value as a name, one short printable line; empty if it is no scalar."""
    return clean_line(storable(str(value)), NAME_LIMIT) if isinstance(value, (str, int, float)) else ""


def text(value: Any) -> str:
    """Return a value as prose; empty if it is no scalar."""
    return storable(str(value)).strip() if isinstance(value, (str, int, float)) and value is not True else ""


def words(value: Any) -> tuple[str, ...]:
    """Return the items of a list, or of a string with commas, as names."""
    items: Iterable[Any] = value.split(",") if isinstance(value, str) else value if isinstance(value, list) else ()
    found = (name(item) for item in items)
    return tuple(dict.fromkeys(item for item in found if item))[:200]


def mapping(value: Any) -> Mapping[str, Any]:
    """Return a value if it is a mapping, else an empty one."""
    return value if isinstance(value, Mapping) else {}


def parse_json(source: str) -> Any:
    """Parse JSON within bounds; comments and trailing commas are accepted.

    Raises:
        Unusable: the text is not JSON, or out of bounds.
    """
    try:
        return plain(json.loads(source))
    except RecursionError:
        message = "JSON nested too deep"
        raise Unusable(message) from None
    except ValueError as error:
        relaxed = _TRAILING_COMMA.sub(_string_only, _COMMENT.sub(_string_only, source))
        try:
            return plain(json.loads(relaxed))
        except (ValueError, RecursionError):
            message = f"not JSON ({error})"
            raise Unusable(clean_line(message, 200)) from None


def is_json(source: str) -> bool:
    """Tell whether a text is JSON as the standard has it, without comments and trailing commas."""
    try:
        json.loads(source)
    except (ValueError, RecursionError):
        return False
    return True


def _string_only(match: re.Match[str]) -> str:
    return match.group(1) or ""
