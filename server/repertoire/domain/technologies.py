"""The technologies of a component's programs (languages, frameworks, patterns, exports), and how they are stored."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from repertoire.domain.text import clean_line

KEY = "made_of"  # the front matter's key for these fields, which we add to the author's own keys
_MOST, _LENGTH = 40, 80


@dataclass(frozen=True)
class Technologies:
    """The technologies of a component, read from manifests, imports and definitions; every part may be empty."""

    languages: tuple[str, ...] = ()
    frameworks: tuple[str, ...] = ()
    patterns: tuple[str, ...] = ()
    exports: tuple[str, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.as_mapping())

    def as_mapping(self) -> dict[str, list[str]]:
        """Return the parts that are not empty, in the form in which they are stored."""
        return {name: list(getattr(self, name))[:_MOST] for name in _NAMES if getattr(self, name)}


_NAMES = ("languages", "frameworks", "patterns", "exports")


def technologies_of(front_matter: Mapping[str, Any]) -> Technologies:
    """Read the stored technologies from a component's front matter; empty if there are none."""
    stored = front_matter.get(KEY)
    if not isinstance(stored, Mapping):
        return Technologies()
    return Technologies(**{name: tuple(_words(stored.get(name))) for name in _NAMES})


def with_technologies(front_matter: Mapping[str, Any], fields: Technologies) -> Mapping[str, Any]:
    """Return a front matter with these technologies under our key, whatever the author wrote there."""
    found = fields.as_mapping()
    if not found and KEY not in front_matter:
        return front_matter
    return {**{key: value for key, value in front_matter.items() if key != KEY}, **({KEY: found} if found else {})}


def _words(listed: Any) -> Iterable[str]:
    for item in listed[:_MOST] if isinstance(listed, list) else ():
        if isinstance(item, str) and (word := clean_line(item, _LENGTH)):
            yield word
