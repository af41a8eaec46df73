"""Joins the trials of exact copies: where one copy was offered and another used, that is one trial."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from repertoire.learning.outcomes import Trial


def of_contents(found: Sequence[Trial], same: Mapping[str, str]) -> list[Trial]:
    """Return trials with each copy called as the one that `same` leads to; copies in one request are one chance."""
    if not same:
        return list(found)
    told: list[Trial] = []
    chances: dict[tuple[str, str, str], dict[str, int]] = {}  # by copy, the place of its trial
    for trial in found:
        node = same.get(trial.node)
        if node is None:
            told.append(trial)
            continue
        named = replace(trial, node=node)
        others = chances.setdefault((trial.session, trial.request, node), {}) if trial.request else {}
        place = next((place for copy, place in others.items() if copy != trial.node), None)
        if place is None or (one := _together(told[place], named)) is None:
            others[trial.node] = len(told)
            told.append(named)
        else:
            told[place] = one
    return told


def _together(one: Trial, other: Trial) -> Trial | None:
    """Return the one chance that two copies had in a request; None where both were used: these are two uses."""
    if one.selected_at and other.selected_at:
        return None
    used, idle = (other, one) if other.selected_at else (one, other)
    if not idle.offered_at or (used.offered_at and used.rank <= idle.rank):
        return used
    return replace(used, offered_at=idle.offered_at, rank=idle.rank, moment=idle.moment)
