"""Stored sums of the log with later events give the same usage as the whole log."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from happenings import Happening, logs
from repertoire.domain.event import ASKED, BAD, OFFERED, OK, SELECTED
from repertoire.learning.hints import PROMPT
from repertoire.learning.log_summary import last_summed, read_summary, recall, sum_up
from repertoire.learning.outcomes import SET, Trial, trials
from repertoire.learning.usage import Decay, summarize_usage

THEN, NOW = "2026-02-01T12:00:00Z", "2026-03-01T12:00:00Z"


def same(log: list[Happening], last: int, clock: Decay) -> None:
    settled = trials(event for event in log if event.id <= last)
    kept = read_summary(sum_up(settled, Decay(THEN, clock.half_life, "/q"), through=last).as_text())
    recalled = recall(kept, trials(event for event in log if event.id > kept.through), clock)
    whole = summarize_usage(trials(log), clock)
    counts = [(hint.moment, hint.type, hint.offered, hint.followed) for hint in whole.hints]
    assert [(hint.moment, hint.type, hint.offered, hint.followed) for hint in recalled.hints] == counts
    demands = [hint.demand for hint in whole.hints]
    assert [hint.demand for hint in recalled.hints] == pytest.approx(demands)
    assert recalled.weary == pytest.approx(whole.weary)
    assert recalled.harmful == {node for node, record in whole.records.items() if record.lift.harmful}


@given(logs(), logs(), st.sampled_from(("/p", "/q", "")), st.sampled_from((0.0, 9.0, 90.0)))
def test_sums_and_what_came_after_them_are_the_whole_log(
    log: list[Happening], later: list[Happening], project: str, half_life: float
) -> None:
    renamed = [
        replace(event, id=event.id + 100, session=f"{event.session} later", node=event.node and f"{event.node} later")
        for event in later
        if event.data.get("how") != "installed"
    ]
    same([*log, *renamed], 100, Decay(NOW, half_life, project))


def test_what_does_harm_is_known_from_both_parts_together() -> None:
    log = []
    for number in range(18):
        where = {"at": f"2026-01-{number + 1:02}T00:00:00Z", "session": f"s{number}", "request": f"r{number}"}
        kinds = [(ASKED, ""), (OFFERED, "a"), *([("failed", "a")] if number % 2 else [("checked", "")])]
        log += [
            Happening(10 * number + place, kind=kind, node=node, **where) for place, (kind, node) in enumerate(kinds)
        ]
    clock = Decay(NOW, 90.0, "/p")
    assert summarize_usage(trials(log), clock).records["a"].lift.harmful
    assert not recall(None, trials(log[:15]), clock).harmful
    for last in (0, 39, 69, 99, 200):
        same(log, last, clock)


def test_what_was_hinted_at_in_vain_or_did_harm_counts_for_each_exact_copy_after_summing_up() -> None:
    clock = Decay(NOW, 90.0)
    vain = [Trial("a", session=f"s{n}", offered_at=NOW, rank=1, moment=PROMPT) for n in range(40)]
    harm = [Trial("b", request=f"r{n}", selected_at=NOW, outcome=BAD) for n in range(9)]
    better = [Trial("b", request=f"r{n}", offered_at=NOW, rank=1, moment=SET, apart=OK) for n in range(9)]
    kept = read_summary(sum_up([*vain, *harm, *better], clock, through=1).as_text())
    copies = {"a": "a", "a copy": "a", "b": "b", "b copy": "b", "c copy": "c"}
    found = recall(kept, [], clock, copies=lambda _: copies)
    assert found.weary.keys() == {"a", "a copy"}
    assert found.weary["a copy"] == found.weary["a"] > 1.0
    assert found.harmful == {"b", "b copy"}


@given(logs())
def test_sums_reach_to_where_no_session_is_in_two_parts(log: list[Happening]) -> None:
    last = last_summed(log)
    ids = [event.id for event in log]
    assert last in ids or (not log and last == 0)
    before = {event.session for event in log if event.id <= last and event.session}
    after = {event.session for event in log if event.id > last and event.session}
    assert not before & after
    for event in log:
        if event.id > last and event is not log[-1]:  # none that comes later would have done
            cut = event.id
            one = {other.session for other in log if other.id <= cut and other.session}
            assert one & {other.session for other in log if other.id > cut and other.session}


def test_a_log_is_summed_up_to_the_session_that_lives() -> None:
    log = [Happening(number, NOW, SELECTED, f"s{number // 4}", node="a") for number in range(1, 20)]
    assert last_summed(log) == 15
    assert last_summed(log[:1]) == 1
    assert last_summed([]) == 0
