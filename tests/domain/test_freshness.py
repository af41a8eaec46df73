"""Freshness falls with age by type, never below its floor; releases lower it; invalid dates are ignored."""

from __future__ import annotations

from datetime import date, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from repertoire.domain.component import COMPONENT_TYPES
from repertoire.domain.freshness import FLOOR, Ageing, Release, freshness, span

TODAY = date(2026, 11, 22)


def ago(days: int) -> str:
    return (TODAY - timedelta(days=days)).isoformat()


def judged(kind: str, days: int, **more):
    found = freshness(kind, ago(days), TODAY, **more)
    assert found is not None
    return found


def test_a_kinds_half_life_is_what_its_news_is_worth_half_after():
    for kind, days in (("skill", 400), ("plugin", 300), ("hook", 300), ("mcp_server", 200), ("tool", 200)):
        assert judged(kind, days, ageing=Ageing(half_life_days=400)).parts["age"] == pytest.approx(0.5)


@given(st.sampled_from(COMPONENT_TYPES), st.integers(-400, 40_000), st.integers(-400, 40_000), st.integers(0, 2000))
def test_older_is_never_fresher_and_the_score_stays_within_its_bounds(kind, one, other, half_life):
    younger, older = sorted((one, other))
    ageing = Ageing(half_life_days=half_life)
    first, second = judged(kind, younger, ageing=ageing), judged(kind, older, ageing=ageing)
    assert FLOOR <= second.score <= first.score <= 1.0


@pytest.mark.parametrize("nonsense", ["", "never", "292277026596-12-04", "2026-13-01", "\x00"])
def test_what_is_no_date_says_nothing(nonsense):
    assert freshness("skill", nonsense, TODAY) is None
    assert judged("skill", 10, releases=[Release(nonsense, nonsense, breaking=True)]).parts == judged("skill", 10).parts


def test_stale_begins_where_the_setting_says():
    assert not judged("skill", 500).stale
    assert judged("skill", 700).stale
    assert judged("mcp_server", 300).stale
    assert judged("skill", 500, ageing=Ageing(stale_percent=60)).stale


def test_a_label_says_when_it_was_last_changed():
    found = freshness("skill", "2024-01-15T10:00:00Z", date(2025, 11, 22))
    assert found is not None
    assert found.label == "last changed 2024-01, 22 months ago"
    assert [span(days) for days in (0, 1, 45, 70, 1200)] == ["0 days", "1 day", "45 days", "2 months", "3 years"]


def test_a_breaking_release_since_its_last_change_counts_against_it():
    before = [Release("1.0.0", ago(500)), Release("2.0.0", ago(300))]
    assert "breaking" not in judged("skill", 200, releases=before).parts
    found = judged("skill", 400, releases=before)
    assert found.parts["breaking"] < 1.0
    assert found.broke == before[1]
    said = judged("skill", 400, releases=[Release("1.1", ago(100), breaking=True)])
    assert said.broke is not None
    assert judged("skill", 400, releases=[Release("1.0", ago(500)), Release("1.9", ago(10))]).broke is None


def test_a_project_that_stopped_releasing_as_it_used_to_is_overdue():
    steady = [Release(f"1.{number}", ago(days)) for number, days in enumerate((400, 370, 340, 310))]
    found = judged("skill", 310, releases=steady)
    assert (found.every_days, found.released) == (30, ago(310))
    assert found.parts["overdue"] < 1.0
    assert "overdue" not in judged("skill", 310, releases=[*steady, Release("1.9", ago(20))]).parts
    assert judged("skill", 310, releases=steady[:3]).every_days == 0
