"""Makes the fragments of headings' addresses as GitHub and mdBook make them."""

from __future__ import annotations

import re

_DROPPED = re.compile(r"[^\w\- ]")  # GitHub and mdBook keep letters, digits, `_`, `-` and blanks
_LONGEST = 100  # characters of a fragment that a heading gives


class Anchors:
    """The fragments of one document: an equal heading gets a number, as in `usage-1`."""

    def __init__(self) -> None:
        self._used: dict[str, int] = {}

    def of(self, heading: str) -> tuple[str, str]:
        """Return a heading without its attributes, and its fragment; `{#name}` at its end gives the fragment."""
        title, given = split_attributes(heading)
        return title, self._unique(given or slug(title))

    def _unique(self, name: str) -> str:
        unique = name
        while unique in self._used:
            self._used[name] += 1
            unique = f"{name}-{self._used[name]}"
        self._used[unique] = 0
        return unique


def split_attributes(heading: str) -> tuple[str, str]:
    """Return a heading without the `{#name}` at its end, and the name; the whole heading and nothing without one."""
    title, brace, attributes = heading.rstrip().removesuffix("}").rpartition("{")
    words = attributes.split()
    given = next((word[1:] for word in words if word.startswith("#")), "")
    known = all(word[:1] in "#." or "=" in word for word in words)  # else a template shows itself: `{#if x}`
    if not (brace and known and heading.rstrip().endswith("}") and 0 < len(given) <= _LONGEST):
        return heading, ""
    if title.endswith(("{", "$")):  # as in `{{#name}}` and `${#name}`
        return heading, ""
    return title.strip(), given


def slug(heading: str) -> str:
    """Return the fragment of a heading's text: lower case, without punctuation, with a hyphen for each blank."""
    return _DROPPED.sub("", heading.strip().lower()).replace(" ", "-")
