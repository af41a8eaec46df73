"""Renders known combinations and companions with their evidence; names from strangers are capped."""

from __future__ import annotations

from collections.abc import Sequence

from repertoire.domain.answer import Combination, Other
from repertoire.domain.component import Component
from repertoire.domain.text import clean_line

_NAME, _LINE = 80, 200
_WHOLE = {"plugin": "plugin", "agent": "agent with what it uses", "project": "yours"}


def combination_lines(combinations: Sequence[Combination]) -> list[str]:
    """Render the known combinations that were asked for."""
    if not combinations:
        return []
    return ["Known combinations:", *(f"   - {combination_text(one)}" for one in combinations)]


def combination_text(combination: Combination) -> str:
    """Render one combination: its kind, how often and where it was seen, and its most relevant members."""
    name = clean_line(combination.name, 2 * _NAME)
    members = ", ".join(map(_member, combination.members))
    if combination.more:
        members += f" and {combination.more} more"
    where = f"in {clean_line(combination.seen[0], _NAME)} " if combination.kind == "capabilities" and members else ""
    return f"{name} ({_grounds(combination)})" + (f": {where}{members}" if members else "")


def companion_lines(companions: Sequence[Other]) -> list[str]:
    """Render the companions of the components that are in use or in the question."""
    if not companions:
        return []
    lines = (f"   - {_member(other.component)}: {clean_line(other.reason, _LINE)}" for other in companions)
    return ["Often used with it:", *lines]


def _grounds(combination: Combination) -> str:
    if combination.kind in _WHOLE:
        return _WHOLE[combination.kind]
    where = f"; seen in {', '.join(clean_line(name, _NAME) for name in combination.seen)}" if combination.seen else ""
    return f"together {combination.support} times, {combination.lift:.1f} times as often as by chance{where}"


def _member(component: Component) -> str:
    return f"{clean_line(component.name, _NAME)} ({component.type.replace('_', ' ')})"
