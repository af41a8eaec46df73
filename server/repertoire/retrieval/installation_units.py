"""Computes the unit that a component is installed with (its whole plugin), and the unit's tokens in each session."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from repertoire.domain.answer import Unit
from repertoire.domain.component import AGENT, CATALOGUE, COMMAND, PLUGIN, SKILL, TOOL, Component, is_pointer
from repertoire.domain.invocation import LISTED, LISTING, UNLISTED
from repertoire.domain.tokens import tokens_of_lengths
from repertoire.ports import Summary

_SHARING = (SKILL, COMMAND)  # types whose descriptions share LISTING
_ENTRY = 12  # characters of a listing's entry beside the component's and the plugin's name


class Units:
    """Holds by row the plugin that installing a component brings, if any."""

    def __init__(self, summaries: Sequence[Summary]) -> None:
        groups: dict[tuple[str, str, str], list[int]] = {}
        for row, summary in enumerate(summaries):
            if summary.plugin and not summary.installed and summary.type != TOOL and not is_pointer(summary.id):
                groups.setdefault((summary.source, summary.marketplace, summary.plugin), []).append(row)
        self._units: list[Unit] = []
        self._at = np.full(len(summaries), -1, dtype=np.int64)
        for rows in groups.values():
            members = [summaries[row] for row in rows if summaries[row].type != PLUGIN]
            bringing = [row for row in rows if summaries[row].marketplace or summaries[row].copies_plugin]
            if members and bringing:  # the contents of a plugin that is only listed are unknown
                self._add(bringing, members)

    def of(self, row: int) -> Unit | None:
        """Return the plugin that a component is installed with; None if it has none or is installed already."""
        at = int(self._at[row])
        return self._units[at] if at >= 0 else None

    def _add(self, rows: list[int], members: list[Summary]) -> None:
        first = members[0]
        counts = Counter(member.type for member in members)
        name = f"{first.plugin}@{first.marketplace}" if first.marketplace else first.plugin
        counted = dict(sorted(counts.items()))
        unit = Unit(name, counted, _tokens(members), whole=first.source != CATALOGUE)
        self._at[rows] = len(self._units)
        self._units.append(unit)


def listing_tokens(component: Component) -> int:
    """Estimate the tokens that a component by itself adds to each session's listing; 0 where the model is not told."""
    if component.invocation in UNLISTED:
        return 0
    described = component.description
    size = len(described.encode("utf-8", "replace"))
    return _tokens([_Entry(component.type, component.name, component.plugin, len(described), size)])


class _Entry(NamedTuple):
    type: str
    name: str
    plugin: str
    described: int  # characters of its description
    described_bytes: int


def _tokens(members: Sequence[Summary | _Entry]) -> int:
    names = sum(len(member.name) + len(member.plugin) + _ENTRY for member in members)
    own = sum(_described(member) for member in members if member.type == AGENT)
    sharing = [member for member in members if member.type in _SHARING]
    listed = sum(min(member.described, LISTED) for member in sharing)
    shared = sum(_described(member) for member in sharing) * min(1.0, LISTING / max(listed, 1))
    return max(1, int(tokens_of_lengths(names, names) + own + shared))


def _described(member: Summary | _Entry) -> float:
    """Return the tokens of a description, as far as it is listed."""
    listed = min(1.0, LISTED / max(member.described, 1))
    return tokens_of_lengths(member.described, member.described_bytes) * listed
