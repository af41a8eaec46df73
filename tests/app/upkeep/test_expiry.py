"""What is kept of sessions for some days alone goes with the next refresh, whatever the clock was meanwhile."""

from __future__ import annotations

import json
import os
import time
from datetime import datetime, timedelta, timezone
from pathlib import Path

import pytest

from ingestion.workbench import skill
from repertoire.app.clock import ago
from repertoire.app.traces.contribute import draft
from repertoire.app.traces.fields import TraceFields
from repertoire.app.upkeep.refresh import refresh
from repertoire.app.upkeep.refresh_due import is_refresh_due
from repertoire.app.wiring import open_repertoire
from repertoire.boot import session_files
from repertoire.domain.event import Moment
from repertoire.domain.trace import DRAFT
from repertoire.settings import Settings

HOUR = timedelta(hours=1)
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


@pytest.mark.parametrize("hours", [0, 12])
def test_what_the_clock_dated_a_year_ahead_asks_for_one_more_refresh_and_not_for_one_each_time(
    bench, monkeypatch: pytest.MonkeyPatch, hours: int
) -> None:
    config, project = bench.write({"skills/one/SKILL.md": skill("one")}, under="claude"), bench.root / "project"
    (project / ".claude" / "skills").mkdir(parents=True)
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(config))
    monkeypatch.setenv("CLAUDE_PROJECT_DIR", str(project))
    year = timedelta(days=365)
    for folder in (config / "skills", project / ".claude" / "skills"):
        os.utime(folder, (time.time() + year.total_seconds(),) * 2)
    environment = {"REPERTOIRE_MODEL": "none/at-all", "REPERTOIRE_REFRESH_HOURS": str(hours)}

    def due() -> bool:
        with open_repertoire(bench.home, environment=environment) as repertoire:
            return is_refresh_due(repertoire, {"CLAUDE_CONFIG_DIR": str(config)}, at=datetime.now(timezone.utc) + HOUR)

    refresh(bench.store, bench.home, settings=Settings())
    _dated(bench.home, -10.0)  # the folders were made in the second in which it began
    assert not due(), "the date of a file that lies ahead is no change after each reading"
    _dated(bench.home, -year.total_seconds())
    assert due(), "what was read by a clock that was ahead may have changed since"


def _dated(home: Path, seconds: float) -> None:
    """Let the newest refresh have begun and ended so many seconds ago."""
    told, at = json.loads((home / "refresh.json").read_text()), ago(timedelta(seconds=seconds))
    read = dict.fromkeys(told["projects"], at)
    (home / "refresh.json").write_text(json.dumps({**told, "started": at, "finished": at, "projects": read}))
