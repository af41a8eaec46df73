"""How long a server asks to wait, as seconds and as a date, whatever it says."""

from __future__ import annotations

from datetime import datetime, timedelta, timezone
from email.utils import format_datetime

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from repertoire.app.commons.retry_after import retry_after

NOON = datetime(2026, 11, 23, 12, tzinfo=timezone.utc)


@given(st.integers(0, 10**6), st.timedeltas(timedelta(days=-400), timedelta(days=400)))
def test_a_date_asks_to_wait_as_long_as_the_servers_own_clock_says(seconds: int, off: timedelta):
    server = (NOON + off).replace(microsecond=0)  # whatever the time is here
    until = format_datetime(server + timedelta(seconds=seconds), usegmt=True)
    assert retry_after({"Retry-After": until, "Date": format_datetime(server, usegmt=True)}) == seconds
    assert retry_after({"Retry-After": str(seconds)}) == seconds


def test_without_a_date_of_the_server_the_clock_here_counts():
    until = datetime.now(timezone.utc) + timedelta(seconds=30)
    assert retry_after({"Retry-After": format_datetime(until, usegmt=True)}) == pytest.approx(30, abs=5)
    assert retry_after({"Retry-After": "Fri, 31 Dec 1999 23:59:59 GMT"}) == 0


@given(st.text(), st.text())
@example("9" * 400, "")
@example("Fri, 31 Dec 99999 23:59:59 GMT", "x")
@example("Mon, 01 Jan 0001 00:00:00 +2359", "Fri, 31 Dec 9999 23:59:59 -2359")
@example("1 Jan 2026 00:00:00 +999999999999999999", "")
def test_what_cannot_be_read_asks_for_no_wait_and_raises_nothing(said: str, date: str):
    assert 0 <= retry_after({"Retry-After": said, "Date": date}) < float("inf")
