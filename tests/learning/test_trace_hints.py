"""Hints of traces count as taken by what the log says, and what is never taken needs higher odds, up to a limit."""

from __future__ import annotations

from repertoire.domain.event import SHOWN, TAKEN, Event
from repertoire.learning.arbiter import FAILED_COMMAND, TRACE
from repertoire.learning.hints import BEFORE_COMMAND, FAILURE, MOST, SESSION_START, WEARY
from repertoire.learning.trace_hints import trace_hints, trace_trials
from repertoire.learning.usage import Decay

AT = "2026-11-20T10:00:00Z"
CLOCK = Decay(AT)


def shown(session: str, node: str = "trace:1", **data: object) -> Event:
    return Event(AT, SHOWN, session, "/here", node=node, data=data)


def taken(session: str, node: str = "trace:1") -> Event:
    return Event(AT, TAKEN, session, "/here", node=node)


def test_nothing_shown_demands_nothing() -> None:
    found = trace_hints([taken("s")], CLOCK)
    assert (found.rates, found.weary, found.demands(FAILURE)) == ((), {}, {})


def test_the_more_often_hints_are_ignored_the_higher_the_odds_they_need_up_to_a_limit() -> None:
    few, many = ([shown(f"s{n}") for n in range(count)] for count in (12, 1_000))
    assert trace_hints(few, CLOCK).demands(FAILURE) == {TRACE: 2.0}
    assert trace_hints(few, CLOCK).weary == {"trace:1": 4.0}
    assert trace_hints(many, CLOCK).demands(FAILURE) == {TRACE: MOST}
    assert trace_hints(many, CLOCK).weary == {"trace:1": WEARY}


def test_hints_of_which_one_in_ten_is_taken_need_the_usual_odds() -> None:
    events = [event for n in range(100) for event in (shown(f"s{n}"), *([taken(f"s{n}")] if n % 10 == 0 else []))]
    found = trace_hints(events, CLOCK)
    assert found.demands(FAILURE) == {}
    assert found.weary == {}
    assert (found.rates[0].offered, found.rates[0].followed) == (100, 10)


def test_a_hint_is_taken_by_its_own_session_alone_and_once() -> None:
    events = [shown("s1"), shown("s2"), taken("s2"), taken("s2"), taken("s3"), taken("s1", "trace:2")]
    assert [trial.selected_at for trial in trace_trials(events)] == ["", AT]


def test_each_moment_and_kind_is_counted_apart() -> None:
    events = [
        *(shown(f"s{n}", where=SESSION_START, rank=2) for n in range(40)),
        *(shown(f"s{n}", "command:1", where=BEFORE_COMMAND, type=FAILED_COMMAND) for n in range(12)),
    ]
    found = trace_hints(events, CLOCK)
    assert found.demands(FAILURE) == {}
    assert found.demands(BEFORE_COMMAND) == {FAILED_COMMAND: 2.0}
    assert 2.0 < found.demands(SESSION_START)[TRACE] < 3.0, "a second line is looked at half as often"
