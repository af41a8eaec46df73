"""Knows placeholders: components that only show how one of their kind is written, such as `example-skill`."""

from __future__ import annotations

from repertoire.domain.component import Component
from repertoire.domain.text import split_words

_SHOWING = frozenset({"example", "sample", "template", "dummy", "hello"})
_KINDS = frozenset({"skill", "agent", "subagent", "command", "hook", "server", "plugin", "mcp", "world"})


def is_placeholder(component: Component) -> bool:
    """Tell whether a component's name says no more than that it is an example of its kind."""
    first, *rest = split_words(component.name) or [""]
    return first in _SHOWING and bool(rest) and _KINDS.issuperset(rest)
