"""Makes the fragments of headings' addresses as GitHub and mdBook make them."""

from __future__ import annotations

import re
from collections import Counter

_DROPPED = re.compile(r"[^\w\- ]")  # GitHub and mdBook keep letters, digits, `_`, `-` and blanks
_GIVEN = re.compile(r"\s*\{[^{}]{0,200}\}\s*$")
_ID = re.compile(r"#([^\s{}#]{1,100})")


class Anchors:
    """The fragments of one document: an equal heading gets a number, as in `usage-1`."""

    def __init__(self) -> None:
        self._used: Counter[str] = Counter()

    def of(self, heading: str) -> tuple[str, str]:
        """Return a heading without its attributes, and its fragment; `{#name}` at its end gives the fragment."""
        attributes = _GIVEN.search(heading)
        given = _ID.search(attributes.group()) if attributes else None
        if attributes and given:
            title = heading[: attributes.start()].strip()
            return title, self._unique(given.group(1))
        return heading, self._unique(slug(heading))

    def _unique(self, name: str) -> str:
        number = self._used[name]
        self._used[name] += 1
        if not number:
            return name
        numbered = f"{name}-{number}"
        return self._unique(numbered) if numbered in self._used else self._claim(numbered)

    def _claim(self, name: str) -> str:
        self._used[name] += 1
        return name


def slug(heading: str) -> str:
    """Return the fragment of a heading's text: lower case, without punctuation, with a hyphen for each blank."""
    return _DROPPED.sub("", heading.strip().lower()).replace(" ", "-")
