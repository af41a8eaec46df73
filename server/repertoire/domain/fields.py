"""What a component's programs are made of: languages, frameworks, patterns, and what they offer to others."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from repertoire.domain.text import clean_line

KEY = "made_of"  # in the front matter, where what we found stands beside what the author wrote
_MOST, _LENGTH = 40, 80


@dataclass(frozen=True)
class Fields:
    """What was read from manifests, imports and definitions; every part may be empty."""

    languages: tuple[str, ...] = ()
    frameworks: tuple[str, ...] = ()
    patterns: tuple[str, ...] = ()
    exports: tuple[str, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.as_mapping())

    def as_mapping(self) -> dict[str, list[str]]:
        """Return the parts that hold something, as they are stored."""
        return {name: list(getattr(self, name))[:_MOST] for name in _NAMES if getattr(self, name)}


_NAMES = ("languages", "frameworks", "patterns", "exports")


def fields_of(front_matter: Mapping[str, Any]) -> Fields:
    """Return the stored fields of a component's programs; empty where there are none."""
    stored = front_matter.get(KEY)
    if not isinstance(stored, Mapping):
        return Fields()
    return Fields(**{name: tuple(_words(stored.get(name))) for name in _NAMES})


def with_fields(front_matter: Mapping[str, Any], fields: Fields) -> Mapping[str, Any]:
    """Return a front matter with what was read of the programs beside it; that is never the author's to say."""
    found = fields.as_mapping()
    if not found and KEY not in front_matter:
        return front_matter
    return {**{key: value for key, value in front_matter.items() if key != KEY}, **({KEY: found} if found else {})}


def _words(listed: Any) -> Iterable[str]:
    for item in listed[:_MOST] if isinstance(listed, list) else ():
        if isinstance(item, str) and (word := clean_line(item, _LENGTH)):
            yield word
