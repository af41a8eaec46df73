"""Groups components that are exact copies: evidence for one copy counts for all, and the installed copy is shown."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain

import numpy as np
import numpy.typing as npt

from repertoire.domain.component import PLUGIN
from repertoire.ports import Summary
from repertoire.retrieval.arrays import Floats, Mask, Rows


def _listed(summary: Summary) -> str:
    """Return by what name a plugin is installed from its marketplace; empty for another component."""
    named = summary.type == PLUGIN and summary.marketplace
    return f"{summary.plugin}@{summary.marketplace}" if named else ""


class Copies:
    """The groups of components that have the same content, type and name, or are one plugin of one marketplace.

    `representative[row]` is what is shown in place of `row` where nothing is silenced (`shown`).
    `fullest[row]` is the copy of which most is known: its plugin and its repository, whose catalogue words it has.
    """

    def __init__(self, summaries: Sequence[Summary]) -> None:
        groups: dict[tuple[str, str, str], list[int]] = {}
        # What a marketplace lists of a plugin is no more than the plugin that was installed from it.
        here = {_listed(summary) for summary in summaries if summary.installed} - {""}
        for row, summary in enumerate(summaries):
            if summary.content_hash:
                listed = _listed(summary)
                content = listed if listed in here else summary.content_hash
                groups.setdefault((content, summary.type, summary.name), []).append(row)
        copied = [rows for rows in groups.values() if len(rows) > 1]
        self._rows = np.fromiter(chain.from_iterable(copied), dtype=np.int64)
        sizes = np.fromiter(map(len, copied), dtype=np.int64, count=len(copied))
        self._group = np.repeat(np.arange(len(copied)), sizes)
        self._begins = np.cumsum(sizes) - sizes
        self._installed = np.fromiter((summaries[row].installed for row in self._rows), dtype=np.bool_)
        self._places = np.arange(len(summaries), dtype=np.int64)
        self.fullest = self._places.copy()
        for rows in copied:
            self.fullest[rows] = max(
                rows, key=lambda row: (bool(summaries[row].repository), bool(summaries[row].plugin))
            )
        self.representative = self.shown(np.zeros(len(summaries), dtype=np.bool_))

    @property
    def has_installed_copy(self) -> Mask:
        """The mask of rows that are not installed while an exact copy of them is."""
        return np.asarray(self.representative != self._places)

    def shown(self, silenced: Mask) -> Rows:
        """Return for each row what is shown in its place: its first installed copy that is not silenced, else itself.

        A silenced copy, as one of another project is, stands for nothing: the same may be installed here too.
        """
        first = self._first(self._installed & ~silenced[self._rows])
        spare = ~self._installed & (first >= 0)
        found = self._places.copy()
        found[self._rows[spare]] = first[spare]
        return found

    def _first(self, among: Mask) -> Rows:
        """Return for each copy the first row of its group that a mask over the copies holds; -1 where there is none."""
        if not len(self._rows):
            return self._rows
        none = len(self._places)
        first = np.minimum.reduceat(np.where(among, self._rows, none), self._begins)
        return np.where(first < none, first, -1)[self._group]

    def of(self, row: int) -> tuple[int, ...]:
        """Return the rows of a row's copies, including itself; an empty tuple where it has no copy."""
        at = self._group[self._rows == row]
        return tuple(self._rows[self._group == at[0]].tolist()) if len(at) else ()

    def strongest(self, values: Floats) -> Floats:
        """Give all copies of a group the value of the largest magnitude in their group."""
        if not len(self._rows) or not values.any():
            return values
        own = values[self._rows]
        high, low = np.maximum.reduceat(own, self._begins), np.minimum.reduceat(own, self._begins)
        found = values.copy()
        found[self._rows] = np.where(high >= -low, high, low)[self._group]
        return found

    def largest(self, values: Floats) -> Floats:
        """Give all copies of a group the largest value in their group."""
        return -self.smallest(-values)

    def smallest(self, values: Floats) -> Floats:
        """Give all copies of a group the smallest value in their group."""
        if not len(self._rows):
            return values
        found = values.copy()
        found[self._rows] = np.minimum.reduceat(values[self._rows], self._begins)[self._group]
        return found

    def newest(self, dates: npt.NDArray[np.str_]) -> npt.NDArray[np.str_]:
        """Give all copies of a group the newest date in their group."""
        if not len(self._rows):
            return dates
        order = np.lexsort((dates[self._rows], self._group))
        last = order[np.append(self._begins[1:], len(order)) - 1]
        found = dates.copy()
        found[self._rows] = dates[self._rows[last]][self._group]
        return found

    def first_of_each(self, rows: Rows) -> Rows:
        """Return these rows without those of which a copy stands before."""
        _, places = np.unique(self.fullest[rows], return_index=True)
        return rows[np.sort(places)]

    def moved_to_shown(self, shares: Floats, silenced: Mask, among: Mask) -> Floats:
        """Move each row's share to what is shown in its place, where the mask `among` allows that.

        That of a silenced row goes to a copy of it that is not: what served another project serves this one too.
        """
        to = self.shown(silenced)
        first = self._first(~silenced[self._rows])
        lost = silenced[self._rows] & (first >= 0)
        to[self._rows[lost]] = to[first[lost]]
        spare = np.flatnonzero((to != self._places) & among[to] & (shares != 0.0))
        if not len(spare):
            return shares
        found = shares.copy()
        np.add.at(found, to[spare], shares[spare])
        found[spare] = 0.0
        return found

    def grouped_behind_installed(self, rows: Rows, silenced: Mask) -> Rows:
        """Reorder ranked rows so that copies of an installed component follow directly behind it."""
        ranked = rows.tolist()
        leaders = self.shown(silenced)[rows].tolist()
        if leaders == ranked:
            return rows
        there = set(ranked)
        led: dict[int, list[int]] = {}  # groups in the order of their best row
        for row, leader in zip(ranked, leaders, strict=True):
            led.setdefault(leader if leader in there else row, []).append(row)
        order = (sorted(group, key=leader.__ne__) for leader, group in led.items())
        return np.fromiter(chain.from_iterable(order), dtype=np.int64, count=len(ranked))
