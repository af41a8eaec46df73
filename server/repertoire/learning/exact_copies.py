"""Merges the trials of exact copies: an offer of one copy and the use of another are one trial."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from repertoire.learning.outcomes import Trial


def merge_copies(found: Sequence[Trial], same: Mapping[str, str]) -> list[Trial]:
    """Return trials under the node that `same` maps each copy to, with copies in one request merged."""
    if not same:
        return list(found)
    merged: list[Trial] = []
    chances: dict[tuple[str, str, str], dict[str, int]] = {}  # index of each copy's trial, by session, request and node
    for trial in found:
        node = same.get(trial.node)
        if node is None:
            merged.append(trial)
            continue
        named = replace(trial, node=node)
        others = chances.setdefault((trial.session, trial.request, node), {}) if trial.request else {}
        place = next((place for copy, place in others.items() if copy != trial.node), None)
        if place is None or (both := _merged_trial(merged[place], named)) is None:
            others[trial.node] = len(merged)
            merged.append(named)
        else:
            merged[place] = both
    return merged


def _merged_trial(one: Trial, other: Trial) -> Trial | None:
    """Return the merged trial of two copies in one request; None if both were used, which are two uses."""
    if one.selected_at and other.selected_at:
        return None
    used, idle = (other, one) if other.selected_at else (one, other)
    if not idle.offered_at or (used.offered_at and used.rank <= idle.rank):
        return used
    return replace(used, offered_at=idle.offered_at, rank=idle.rank, moment=idle.moment)
