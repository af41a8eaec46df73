"""The circuit breaker: closed, open for longer after each failure, half-open, and closed again; also by a bad clock."""

from __future__ import annotations

from datetime import datetime, timedelta, timezone

import pytest

from repertoire.app.commons.membership import Membership
from repertoire.app.upkeep.commons_breaker import CLOSED, HALF_OPEN, OPEN, state

NOW = datetime(2026, 11, 24, 12, tzinfo=timezone.utc)


def after(failures: int, ago: timedelta) -> Membership:
    told = (NOW - ago).strftime("%Y-%m-%dT%H:%M:%SZ")
    return Membership("https://c.example", "k", "team", "ann", joined=told, failures=failures, tried=told)


def test_without_failures_it_is_closed():
    assert state(after(0, timedelta()), NOW) == CLOSED


@pytest.mark.parametrize(
    ("failures", "waits"), [(1, timedelta(minutes=5)), (2, timedelta(minutes=10)), (30, timedelta(days=1))]
)
def test_it_is_open_for_twice_as_long_after_each_failure_and_then_lets_one_try(failures: int, waits: timedelta):
    assert state(after(failures, timedelta()), NOW) == OPEN
    assert state(after(failures, waits - timedelta(seconds=1)), NOW) == OPEN
    assert state(after(failures, waits), NOW) == HALF_OPEN


def test_a_clock_that_was_set_back_does_not_keep_it_open():
    assert state(after(3, -timedelta(days=300)), NOW) == HALF_OPEN


def test_a_clock_that_was_set_forward_lets_it_try_early():
    assert state(after(3, timedelta(days=300)), NOW) == HALF_OPEN
