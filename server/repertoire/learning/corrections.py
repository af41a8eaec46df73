"""Reads from a prompt whether it says that what was just done is wrong."""

from __future__ import annotations

import re

_READ = 400  # characters: whoever corrects says so first
_IT = r"(?:that|this|it|your change|the last|everything|all)"
_CORRECTS = re.compile(
    rf"""\s*(?:
      no\b[,.!:;]\s*(?!worries|problem|need|rush|thanks|more\b)\S | nope\b | wrong\b
    | {_IT}(?:'s|\ is|\ was)\ (?:wrong|broken|not\ (?:what|right|it)\b)
    | {_IT}\ (?:still\ )?(?:does\ not|doesn't|did\ not|didn't)\ work
    | (?:please\ )?(?:undo|revert|roll\ back|take\ back)\ {_IT}\b
    | not\ what\ i\ (?:asked|meant|wanted) | you\ (?:broke|misunderstood)\b
    )""",
    re.IGNORECASE | re.VERBOSE,
)


def corrects(prompt: str) -> bool:
    """Tell whether a prompt begins by saying that what was done is wrong."""
    return _CORRECTS.match(prompt[:_READ]) is not None
