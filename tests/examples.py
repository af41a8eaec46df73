"""How many examples a property is tried on: few, always the same, or, in `tools/check search`, many new ones."""

from __future__ import annotations

from typing import Any

from hypothesis import settings

_TIMES = 50  # as many in a search


def examples(few: int, **more: Any) -> settings:
    """Return settings for so many examples, and fifty times as many in a search."""
    searching = settings.get_current_profile_name() == "search"
    return settings(max_examples=few * (_TIMES if searching else 1), **more)
