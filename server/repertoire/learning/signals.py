"""Reads from a prompt and from a shell command what they say of what was done before: corrected, undone, checked."""

from __future__ import annotations

import re

from repertoire.learning.session import CHECKED, UNDONE

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
_START = r"(?:^|[;&\n])\s*(?:\w+=\S+\s+)*"
_THROUGH = r"(?:(?:uv|poetry|pdm|hatch|pipenv)\s+run\s+|(?:npx|bunx|bundle\s+exec)\s+|python[\d.]*\s+-m\s+)?"
_CHECKS = re.compile(
    rf"""{_START}{_THROUGH}(?:
      (?:pytest|unittest|tox|nox|mypy|pyright|flake8|jest|vitest|eslint|tsc|rspec|phpunit|ctest|bats)\b
    | (?:ruff\s+check|playwright\s+test)\b
    | (?:npm|pnpm|yarn|bun)\s+(?:run\s+)?(?:test|lint|check|typecheck)\b
    | (?:go|cargo|dotnet|mix|swift|sbt|gradle|\./gradlew|mvn|\./mvnw|make)\s+(?:test|check|clippy|vet|verify|lint)\b
    )""",
    re.VERBOSE,
)
_HIDES = re.compile(r"\||;\s*(?:true|echo|exit\s+0)\b")
_UNDOES = re.compile(
    rf"""{_START}git\s+(?:-C\s+\S+\s+)?(?:
      restore\s+(?!--staged\b)\S | checkout\s+(?:\S+\s+)?--\s | checkout\s+\.(?:\s|$)
    | reset\s+--hard\b | revert\s+(?!--(?:abort|continue))\S
    )""",
    re.VERBOSE,
)


def corrects(prompt: str) -> bool:
    """Tell whether a prompt begins by saying that what was done is wrong."""
    return _CORRECTS.match(prompt[:_READ]) is not None


def of_command(command: str) -> str:
    """Return what a shell command that succeeded tells: an edit undone, a check passed, or nothing.

    A check whose failure something behind it hides tells nothing.
    """
    if _UNDOES.search(command):
        return UNDONE
    return CHECKED if _CHECKS.search(command) and not _HIDES.search(command) else ""
