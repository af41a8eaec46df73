"""Compaction bounds the log, and changes neither usage nor lift nor suggestions."""

from __future__ import annotations

from dataclasses import asdict, replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from happenings import Happening, logs
from repertoire.domain.event import ASKED, COUNTED, OFFERED, OUTCOME, SELECTED
from repertoire.learning.log_compaction import LogBounds, compact
from repertoire.learning.outcomes import trials
from repertoire.learning.suggestions import suggestions
from repertoire.learning.usage import Decay, Usage, summarize_usage

CLOCK = Decay("2026-03-01T12:00:00Z", 90.0, "/p")


def compacted(log: list[Happening], room: LogBounds) -> list[Happening]:
    """Return a log as it is afterwards: what stays, and the counts at its end."""
    found = compact(log, room)
    stays = [event for event in log if event.id not in set(found.gone)]
    last = log[-1].id if log else 0
    return stays + [
        Happening(last + number, count.at, COUNTED, "", count.project, "", count.node, dict(count.data))
        for number, count in enumerate(found.counts, 1)
    ]


def usage(log: list[Happening]) -> Usage:
    return summarize_usage(trials(log), CLOCK)


def same(one: Usage, other: Usage, *, but: str = "") -> None:
    assert one.records.keys() == other.records.keys()
    for node, record in one.records.items():
        mine, theirs = flat(asdict(record)), flat(asdict(other.records[node]))
        for told in (mine, theirs):
            for name in [name for name in told if but and name.startswith(but)]:
                del told[name]
        assert theirs == pytest.approx(mine), node
    assert {str(hint)[:60]: hint.rate.high for hint in one.hints} == pytest.approx(
        {str(hint)[:60]: hint.rate.high for hint in other.hints}
    )


def flat(told: dict[str, Any], before: str = "") -> dict[str, Any]:
    found: dict[str, Any] = {}
    for name, value in told.items():
        found |= flat(value, f"{before}{name}.") if isinstance(value, dict) else {f"{before}{name}": value}
    return found


@given(logs(), st.integers(1, 20))
def test_memory_from_what_stays_and_the_counts_is_memory_from_the_whole_log(log: list[Happening], newest: int) -> None:
    after = compacted(log, LogBounds(newest=newest))
    same(usage(log), usage(after))
    assert suggestions(trials(after)) == suggestions(trials(log))


@given(logs(), st.integers(1, 20), st.integers(1, 10))
def test_sessions_that_are_counted_for_want_of_room_lose_only_what_was_selected_with_what(
    log: list[Happening], newest: int, selected: int
) -> None:
    same(usage(log), usage(compacted(log, LogBounds(newest=newest, selected=selected))), but="selected_with")


@given(logs(), st.integers(1, 20), st.integers(1, 59))
def test_counting_again_and_again_comes_to_the_same_as_never(log: list[Happening], newest: int, cut: int) -> None:
    room = LogBounds(newest=newest)
    first = compacted(log[:cut], room)
    later = [replace(event, id=event.id + 1000) for event in log[cut:] if "installed" not in event.data.values()]
    later = [replace(event, session=f"{event.session} later", project="/later") for event in later if event.session]
    later = [event for event in later if event.kind != OUTCOME]  # which may be about what happened before
    whole = [*log[:cut], *later]
    same(usage(whole), usage(compacted([*first, *later], room)))


def test_a_long_log_is_bounded_and_each_of_its_parts() -> None:
    log = []
    for number in range(3_000):
        at = f"2026-{1 + number // 300:02}-{1 + number // 12 % 28:02}T00:00:00Z"
        kind = (ASKED, OFFERED, SELECTED if number % 8 == 6 else OFFERED, "gap")[number % 4]
        log.append(Happening(number + 1, at, kind, f"s{number // 8}" * (kind != "gap"), node=f"n{number % 40}"))
    room = LogBounds(newest=200, selected=100, counts=50, others=60)
    after = compacted(log, room)
    kinds = [event.kind for event in after]
    assert (kinds.count("gap"), kinds.count(COUNTED)) == (60, 48)
    assert len(after) <= 200 + 100 + 50 + 60 + 8
    less = [event.kind for event in compacted(after, replace(room, others=40))]
    assert (less.count("gap"), less.count(COUNTED)) == (40, 48)
    kept = {event.id for event in after}
    assert kept.issuperset(event.id for event in log[-200:])


def test_a_young_log_is_left_alone() -> None:
    log = [Happening(number, CLOCK.now, OFFERED, "s", node="a") for number in range(1, 11)]
    found = compact(log, LogBounds(newest=10))
    assert (found.gone, found.counts) == ((), ())


def test_counts_that_come_to_the_same_are_not_written_again() -> None:
    day = "2026-02-{:02}T00:00:00Z"
    log = [Happening(n, day.format(n % 28 + 1), OFFERED, f"s{n}", node=f"n{n}") for n in range(1, 41)]
    first = compacted(log, LogBounds(newest=10, counts=20))
    kept = {event.id for event in first if event.kind == COUNTED}
    found = compact(
        [*first, Happening(99, day.format(28), OFFERED, "late", node="late")], LogBounds(newest=10, counts=20)
    )
    assert (len(kept), len(found.counts)) == (19, 1)
    assert len(kept.intersection(found.gone)) <= 1
    found = compact(
        [*first, *(Happening(n, day.format(28), OFFERED, f"late{n}", node=f"late{n}") for n in (99, 100))],
        LogBounds(newest=10, counts=20),
    )
    assert (found.counts, kept.intersection(found.gone)) == ((), frozenset())  # what came is older than all of them


def test_what_is_counted_of_a_day_again_joins_the_count_of_that_day() -> None:
    early, late, room = "2026-02-01T00:00:00Z", "2026-02-20T00:00:00Z", LogBounds(newest=2)

    def offers(first: int) -> list[Happening]:
        rows = enumerate(((early, "a"), (late, "b"), (late, "c")), first)
        return [Happening(number, at, OFFERED, f"s{number}", node=node) for number, (at, node) in rows]

    after = compacted([*compacted(offers(1), room), *offers(11)], room)
    counted = [(event.node, event.data["trials"][0][0]) for event in after if event.kind == COUNTED]
    assert sorted(counted) == [("a", 2), ("b", 1), ("c", 1)]
