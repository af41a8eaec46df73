"""The operations on exact copies give the same results as the plainest implementation."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from repertoire.ports import Summary
from repertoire.retrieval.exact_copies import Copies

ROWS = st.lists(st.tuples(st.sampled_from(("", "a", "b", "c")), st.sampled_from("xy"), st.booleans()), max_size=12)


def summaries(rows):
    return [
        Summary(row, f"id {row}", name, "skill", "", "", "", content, installed, 0.0)
        for row, (content, name, installed) in enumerate(rows)
    ]


def group(rows, row):
    return [other for other, found in enumerate(rows) if found[0] and found[:2] == rows[row][:2]] or [row]


@given(ROWS, st.randoms())
def test_what_says_most_is_shared_and_the_first_installed_copy_answers(rows, random):
    copies = Copies(summaries(rows))
    values = np.array([random.choice((-2.0, -1.0, 0.0, 0.5, 3.0)) for _ in rows])
    dates = np.array([random.choice(("", "2025-01-01", "2026-01-01")) for _ in rows], dtype="U10")
    ranked = random.sample(range(len(rows)), len(rows))
    silenced = np.array([random.random() < 0.3 for _ in rows], dtype=np.bool_)
    allowed = ~silenced & np.array([random.random() < 0.8 for _ in rows], dtype=np.bool_)
    shown = copies.shown(silenced)
    behind = copies.grouped_behind_installed(np.array(ranked, dtype=np.int64), silenced).tolist()
    moved = copies.moved_to_shown(values, silenced, allowed)
    shared, newest = copies.strongest(values), copies.newest(dates)
    least, most = copies.smallest(values), copies.largest(values)
    assert sorted(behind) == sorted(ranked)
    for row in range(len(rows)):
        own = group(rows, row)
        there = [other for other in own if rows[other][2]]
        assert copies.representative[row] == (row if rows[row][2] or not there else there[0])
        ready = [other for other in there if not silenced[other]]
        answering = row if rows[row][2] or not ready else ready[0]
        assert shown[row] == answering
        heard = [other for other in own if not silenced[other]]
        to = (shown[heard[0]] if silenced[row] else answering) if heard else row
        assert (moved[row] == 0.0) or to == row or not allowed[to] or values[row] == 0.0
        assert copies.of(row) == (tuple(own) if len(own) > 1 else ())
        assert shared[row] == max(values[own], key=lambda value: (abs(value), value))
        assert (least[row], most[row]) == (min(values[own]), max(values[own]))
        assert newest[row] == max(dates[own])
        between = behind[behind.index(answering) : behind.index(row)]
        assert answering == row or set(between) <= set(own)
    first = copies.first_of_each(np.array(ranked, dtype=np.int64)).tolist()
    assert first == [row for at, row in enumerate(ranked) if not set(group(rows, row)) & set(ranked[:at])]
    assert moved.sum() == values.sum()
