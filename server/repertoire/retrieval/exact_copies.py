"""Which rows are exact copies: facts about one hold for all, and the installed one answers for them."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain

import numpy as np
import numpy.typing as npt

from repertoire.ports import Summary

Floats = npt.NDArray[np.float64]
Rows = npt.NDArray[np.int64]
Mask = npt.NDArray[np.bool_]


class Copies:
    """The exact copies among components: of one content, type and name.

    `answering` is by row the one that answers for its content: of what is installed too, the first installed one.
    """

    def __init__(self, summaries: Sequence[Summary]) -> None:
        groups: dict[tuple[str, str, str], list[int]] = {}
        for row, one in enumerate(summaries):
            if one.content_hash:
                groups.setdefault((one.content_hash, one.type, one.name), []).append(row)
        copied = [rows for rows in groups.values() if len(rows) > 1]
        self._rows = np.fromiter(chain.from_iterable(copied), dtype=np.int64)
        sizes = np.fromiter(map(len, copied), dtype=np.int64, count=len(copied))
        self._group = np.repeat(np.arange(len(copied)), sizes)
        self._begins = np.cumsum(sizes) - sizes
        self.answering = np.arange(len(summaries), dtype=np.int64)
        for rows in copied:
            first = next((row for row in rows if summaries[row].installed), -1)
            self.answering[[row for row in rows if first >= 0 and not summaries[row].installed]] = first

    @property
    def spare(self) -> Mask:
        """Which rows are there already: not installed themselves, but an exact copy is."""
        return np.asarray(self.answering != np.arange(len(self.answering)))

    def of(self, row: int) -> tuple[int, ...]:
        """Return the rows of all copies of a row, and itself; nothing where it has none."""
        at = self._group[self._rows == row]
        return tuple(self._rows[self._group == at[0]].tolist()) if len(at) else ()

    def shared(self, values: Floats) -> Floats:
        """Return values by row, for each copy the one of its copies that says most."""
        if not len(self._rows) or not values.any():
            return values
        own = values[self._rows]
        high, low = np.maximum.reduceat(own, self._begins), np.minimum.reduceat(own, self._begins)
        found = values.copy()
        found[self._rows] = np.where(high >= -low, high, low)[self._group]
        return found

    def least(self, values: Floats) -> Floats:
        """Return values by row, for each copy the least of its copies."""
        if not len(self._rows):
            return values
        found = values.copy()
        found[self._rows] = np.minimum.reduceat(values[self._rows], self._begins)[self._group]
        return found

    def newest(self, dates: npt.NDArray[np.str_]) -> npt.NDArray[np.str_]:
        """Return dates by row, for each copy the newest that is known of its copies."""
        if not len(self._rows):
            return dates
        order = np.lexsort((dates[self._rows], self._group))
        last = order[np.append(self._begins[1:], len(order)) - 1]
        found = dates.copy()
        found[self._rows] = dates[self._rows[last]][self._group]
        return found

    def answered(self, shares: Floats, among: Mask) -> Floats:
        """Move the share of each row to its installed copy, where that copy may answer."""
        spare = np.flatnonzero(self.spare & among[self.answering] & (shares != 0.0))
        if not len(spare):
            return shares
        found = shares.copy()
        np.add.at(found, self.answering[spare], shares[spare])
        found[spare] = 0.0
        return found

    def behind(self, rows: Rows) -> Rows:
        """Return ranked rows, each row with an installed copy directly behind that copy."""
        ranked = rows.tolist()
        leaders = self.answering[rows].tolist()
        if leaders == ranked:
            return rows
        there = set(ranked)
        led: dict[int, list[int]] = {}  # in the order of the best of each content
        for row, leader in zip(ranked, leaders, strict=True):
            led.setdefault(leader if leader in there else row, []).append(row)
        order = (sorted(group, key=leader.__ne__) for leader, group in led.items())
        return np.fromiter(chain.from_iterable(order), dtype=np.int64, count=len(ranked))
