"""Parses TOML within bounds."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from typing import Any

from repertoire import linear
from repertoire.domain.text import clean_line
from repertoire.ingestion import values
from repertoire.ingestion.values import Unusable

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

# The standard library's reader looks from the top for each part of a key: 67,000 of them take it six seconds.
_ENDLESS_KEY = linear.compile(r"(?:[\w\"'-]+[ \t]*\.[ \t]*){100}")


def parse(source: str) -> Mapping[str, Any]:
    """Parse TOML within bounds.

    Raises:
        Unusable: the text is not TOML, or out of bounds.
    """
    if _ENDLESS_KEY.search(source):
        message = "a key of more than 100 parts"
        raise Unusable(message)
    try:
        return values.mapping(values.plain(tomllib.loads(source)))
    except (ValueError, RecursionError) as error:  # ValueError: also of an integer of thousands of digits
        message = clean_line(f"not TOML ({error})", 200)
        raise Unusable(message) from None
