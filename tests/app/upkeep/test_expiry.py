"""What is kept of sessions for some days alone goes with the next refresh, whatever the clock was meanwhile."""

from __future__ import annotations

import os
import time
from datetime import timedelta

import pytest

from repertoire.app.clock import ago
from repertoire.app.traces.contribute import draft
from repertoire.app.traces.fields import TraceFields
from repertoire.app.upkeep.refresh import refresh
from repertoire.boot import session_files
from repertoire.domain.event import Moment
from repertoire.domain.trace import DRAFT
from repertoire.settings import Settings

TOLD = TraceFields("vite build is killed", "The build dies with exit code 137.", "Raise the memory limit.")


@pytest.mark.parametrize(("days", "stays"), [(0, True), (6, True), (8, False), (-2, True), (-300, False)])
def test_a_draft_and_the_file_of_a_session_that_never_ended_go_after_a_week(bench, days: int, stays: bool) -> None:
    session_files.write(bench.home, "s", {"trace": "{}"})
    written = time.time() - days * 86_400
    os.utime(session_files.file_of(bench.home, "s"), (written, written))
    draft(bench.store, TOLD, moment=Moment(ago(timedelta(days=days)), "s", "/srv/shop"))
    refresh(bench.store, bench.home, settings=Settings())
    assert bool(session_files.version(bench.home, "s")) is stays
    assert bool(bench.store.traces.all(DRAFT)) is stays


def test_files_of_sessions_from_the_future_do_not_crowd_out_the_present_one(bench) -> None:
    for number in range(session_files.MOST):
        session_files.write(bench.home, f"s{number}", {"trace": "{}"})
        later = time.time() + 300 * 86_400
        os.utime(session_files.file_of(bench.home, f"s{number}"), (later, later))
    session_files.write(bench.home, "now", {"trace": "{}"})
    assert session_files.version(bench.home, "now")
