"""What a text says by how it is written: names, times, whether two say the same, where words stand together."""

from __future__ import annotations

import time
from datetime import date, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from repertoire.app.clock import local_today
from repertoire.domain.project import Entry
from repertoire.projects.hints import hints_of
from repertoire.projects.mentions import MOST, mentions
from repertoire.projects.passages import best_passages
from repertoire.projects.sameness import likeness
from repertoire.projects.spreading import beside, spread
from repertoire.projects.times import span_of

TODAY = date(2026, 11, 24)  # a Tuesday


@pytest.mark.parametrize(
    ("question", "first", "last"),
    [
        ("what was decided yesterday?", "2026-11-23", "2026-11-23"),
        ("what did we say last week about it", "2026-11-16", "2026-11-22"),
        ("decisions since Monday", "2026-11-23", "2026-11-24"),
        ("decisions since last Friday", "2026-11-20", "2026-11-24"),
        ("what broke last friday", "2026-11-20", "2026-11-20"),
        ("notes before the last Monday", "0001-01-01", "2026-11-22"),
        ("notes of the last two weeks", "2026-11-10", "2026-11-24"),
        ("what broke 3 days ago", "2026-11-21", "2026-11-21"),
        ("in May we chose it", "2026-05-01", "2026-05-31"),
        ("in december we chose it", "2025-12-01", "2025-12-31"),
        ("before 2026-11-01", "0001-01-01", "2026-10-31"),
        ("last month", "2026-10-01", "2026-10-31"),
        ("on 2026-02", "2026-02-01", "2026-02-28"),
    ],
)
def test_the_time_that_a_question_asks_of_is_read(question, first, last):
    span = span_of(question, TODAY)
    assert (span.first.isoformat(), span.last.isoformat()) == (first, last)


@pytest.mark.parametrize("question", ["may I march on", "how are sessions refreshed", "2026-13-45", "version 2026"])
def test_a_question_without_a_time_has_none(question):
    assert span_of(question, TODAY) is None


@given(st.text(max_size=200), st.dates(min_value=date(1, 1, 2), max_value=date(9999, 12, 30)))
def test_any_question_on_any_day_has_a_time_or_none(question, today):
    span = span_of(question, today)
    assert span is None or span.rest != question


def test_a_sort_and_a_time_speak_for_the_entries_of_them_and_a_bare_time_asks_for_all_of_it():
    hints = hints_of("what did we decide last week?", TODAY)
    assert (hints.category, hints.all_of_it) == ("decision", True)
    assert not hints_of("what did we decide last week about the glaze?", TODAY).all_of_it
    assert not hints_of("decision", TODAY).all_of_it  # it may be a name in a program
    new = Entry("note:a", "note", "x", data={"category": "decision"}, changed="2026-11-18T10:00:00")
    old = Entry("note:b", "note", "x", data={"category": "decision"}, changed="2026-01-18T10:00:00")
    other = Entry("note:c", "note", "x", data={"category": "fact"}, changed="2026-11-18T10:00:00")
    assert hints.factor(new) > hints.factor(other) > hints.factor(old)


@pytest.mark.skipif(not hasattr(time, "tzset"), reason="NO TIME ZONE CAN BE SET HERE")
def test_a_day_is_that_of_the_person_and_not_that_of_the_clock_in_utc(monkeypatch):
    def note(at: str) -> Entry:
        return Entry("note:a", "note", "x", changed=at)

    late, early = note("2026-11-24T05:00:00Z"), note("2026-11-23T02:00:00Z")  # in the evening of the day before, there
    asked = hints_of("what was decided yesterday?", TODAY)
    try:
        for zone, covered in (("XXX+8", (True, False)), ("UTC0", (False, True)), ("XXX-10", (False, True))):
            monkeypatch.setenv("TZ", zone)
            time.tzset()
            assert (asked.covers(late), asked.covers(early)) == covered
            assert local_today() == datetime.now(timezone(timedelta(hours=-int(zone[3:])))).date()
    finally:
        monkeypatch.undo()
        time.tzset()


def test_names_are_found_by_how_they_are_written_and_plain_words_are_none():
    said = "See `Redis` in src/session.py, AuthService.login and refresh_token(); HTTPServer, note:1f0c2d3e, run()."
    assert {*mentions(said)} == {
        *("note:1f0c2d3e", "Redis", "src/session.py", "AuthService.login", "refresh_token", "HTTPServer", "run")
    }
    assert mentions("Sessions live in a store, and it is well-kept; 1.5 of them.") == []
    assert len(mentions(" ".join(f"name_{number}" for number in range(100)))) == MOST


@pytest.mark.parametrize(
    ("second", "how"),
    [
        ("pots dry a full week in the yard before we fire them in the big kiln today", "same"),
        ("pots dry a week in the yard before we fire them in the big kiln", "near"),
        ("pots dry a full week in the yard before we fire them in the small kiln", "near"),
        ("pots do not dry a full week in the yard before we fire them in the big kiln", "near"),
        ("the ledger is kept by the bank", "other"),
    ],
)
def test_texts_say_the_same_if_one_only_adds_a_word_that_denies_nothing(second, how):
    first = "pots dry a full week in the yard before we fire them in the big kiln"
    assert likeness({*second.split()}, {*first.split()}) == how


def test_a_passage_counts_what_stands_together_and_rare_words_more():
    together = [{"kiln", "hot"}, {"week"}, {"other"}]
    apart = [{"kiln"}, {"other"}, {"other"}, {"week"}]
    common = [{"kiln"}]
    shares = best_passages([together, apart, common], {"kiln", "week"})
    assert shares[0] == 1.0 > shares[1] > shares[2] > 0.0
    assert best_passages([[], [set()]], {"kiln"}) == [0.0, 0.0]


def test_a_score_passes_over_two_links_at_most_decays_and_is_stopped_by_a_hub():
    chain = [(1, "relates_to", 2), (2, "relates_to", 3), (3, "relates_to", 4)]
    passed = spread({1: 1.0, 2: 0.0, 3: 0.0, 4: 0.0}, beside(chain))
    assert passed[1] == 1.0
    assert passed[2] > passed[3] > passed[4] == 0.0
    through = spread({1: 1.0, 2: 0.0}, beside([(1, "about", 9), (2, "about", 9)]))  # a symbol, which has no score
    assert through[2] > 0.0
    hub = spread({1: 1.0, 2: 0.0}, beside([(one, "about", 9) for one in (*range(1, 3), *range(10, 30))]))
    assert hub[2] == 0.0
    assert spread({1: 1.0, 2: 0.5}, beside([(1, "supersedes", 2)])) == {1: 1.0, 2: 0.5}


def test_times_reach_no_day_that_does_not_exist():
    assert span_of("999 years ago", date.min + timedelta(30)) is None
