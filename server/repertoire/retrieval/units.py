"""What comes along with a component: a plugin is installed as a whole, and listed as a whole in each session."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from repertoire.domain.answer import Unit
from repertoire.domain.component import AGENT, COMMAND, PLUGIN, SKILL, TOOL, is_pointer
from repertoire.ports import Summary

Floats = npt.NDArray[np.float64]

_CHARACTERS_A_TOKEN = 4  # of English prose and Markdown
_LISTED = 1536  # characters of a description that Claude Code puts into its listing
_ROOM = 8000  # characters of all descriptions of skills and commands together, beyond which names alone are listed
_SHARING = (SKILL, COMMAND)
_ENTRY = 12  # characters around a name in a listing, beside its plugin's


class Units:
    """By row, the other components that an install line brings, and the tokens that they cost each session."""

    def __init__(self, summaries: Sequence[Summary]) -> None:
        self._summaries = summaries
        groups: dict[tuple[str, str, str], list[int]] = {}
        for row, one in enumerate(summaries):
            if one.plugin and one.marketplace and not one.installed and one.type != TOOL and not is_pointer(one.id):
                groups.setdefault((one.source, one.marketplace, one.plugin), []).append(row)
        self._units: list[Unit] = []
        self._at = np.full(len(summaries), -1, dtype=np.int64)
        self.tokens: Floats = np.fromiter((_tokens([one]) for one in summaries), np.float64, len(summaries))
        for rows in groups.values():
            members = [summaries[row] for row in rows if summaries[row].type != PLUGIN]
            if members:  # of a plugin that is listed and was not read, nobody knows what it brings
                self._add(rows, members)

    def of(self, row: int) -> Unit | None:
        """Return the plugin that a component is installed with; None where it is installed, or is the component."""
        at = int(self._at[row])
        return self._units[at] if at >= 0 else None

    def _add(self, rows: list[int], members: list[Summary]) -> None:
        first = members[0]
        counts = Counter(one.type for one in members)
        unit = Unit(f"{first.plugin}@{first.marketplace}", dict(sorted(counts.items())), _tokens(members))
        self._at[rows] = len(self._units)
        self.tokens[rows] = unit.tokens
        self._units.append(unit)


def _tokens(members: Sequence[Summary]) -> int:
    """Estimate what these add to each session's listing."""
    shared = sum(min(one.described, _LISTED) for one in members if one.type in _SHARING)
    own = sum(len(one.name) + len(one.plugin) + _ENTRY for one in members)
    own += sum(min(one.described, _LISTED) for one in members if one.type == AGENT)
    return max(1, (own + min(shared, _ROOM)) // _CHARACTERS_A_TOKEN)
