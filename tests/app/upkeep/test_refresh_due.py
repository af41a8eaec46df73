"""A refresh runs when it is due, never twice at once, and after failures ever later."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import time
from datetime import datetime, timedelta, timezone
from pathlib import Path

import pytest

from ingestion.workbench import skill
from repertoire.app.clock import now
from repertoire.app.upkeep.refresh import refresh
from repertoire.app.upkeep.refresh_attempts import (
    RefreshAttempt,
    attempted,
    forget_attempts,
    must_wait,
    newest_attempt,
    overdue,
)
from repertoire.app.upkeep.refresh_due import is_refresh_due
from repertoire.app.wiring import open_repertoire
from repertoire.settings import Settings
from sample_home import SOURCE, filled_home

NO_MODEL = {"REPERTOIRE_MODEL": "none/at-all"}
AT = datetime(2026, 5, 5, 12, tzinfo=timezone.utc)


def ago(**span: int) -> str:
    return (AT - timedelta(**span)).strftime("%Y-%m-%dT%H:%M:%SZ")


def test_a_good_refresh_is_noted_and_a_failed_one_counts(tmp_path: Path) -> None:
    assert newest_attempt(tmp_path) == RefreshAttempt()
    for failures in (1, 2):
        with pytest.raises(RuntimeError), attempted(tmp_path, None):
            raise RuntimeError
        assert newest_attempt(tmp_path).failures == failures
    with attempted(tmp_path, None):
        assert newest_attempt(tmp_path).failures == 3, "called failed until it has ended"
    last = newest_attempt(tmp_path)
    assert last.failures == 0
    assert last.finished >= last.started


def test_a_refresh_in_which_all_was_forgotten_counts_as_none(tmp_path: Path) -> None:
    with attempted(tmp_path, tmp_path / "one"):
        pass
    assert [*newest_attempt(tmp_path).projects] == [str(tmp_path / "one")]
    with attempted(tmp_path, tmp_path / "two"):
        forget_attempts(tmp_path)
    assert newest_attempt(tmp_path) == RefreshAttempt(), "both projects are to be read again"


def test_a_refresh_that_was_killed_counts_as_failed_and_holds_the_next_one_off(tmp_path: Path) -> None:
    home = filled_home(tmp_path / "data")
    code = (
        "import sys, pathlib, os, signal\nfrom repertoire.app.upkeep.refresh_attempts import attempted\n"
        "with attempted(pathlib.Path(sys.argv[1]), None):\n    os.kill(os.getpid(), signal.SIGKILL)\n"
    )
    env = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[3] / "server")}
    environment = {"CLAUDE_CONFIG_DIR": str(tmp_path / "none")}
    with open_repertoire(home, environment=NO_MODEL) as repertoire:
        assert is_refresh_due(repertoire, environment)
        subprocess.run([sys.executable, "-c", code, str(home)], env=env, check=False)
        assert not is_refresh_due(repertoire, environment)
        later = datetime.now(timezone.utc) + timedelta(minutes=6)
        assert is_refresh_due(repertoire, environment, at=later)


@pytest.mark.parametrize(
    ("attempt", "held"),
    [
        (RefreshAttempt(), False),
        (RefreshAttempt(ago(minutes=1), "", 0), False),
        (RefreshAttempt(ago(minutes=4), "", 1), True),
        (RefreshAttempt(ago(minutes=6), "", 1), False),
        (RefreshAttempt(ago(minutes=19), "", 3), True),
        (RefreshAttempt(ago(hours=23), "", 20), True),
        (RefreshAttempt(ago(hours=25), "", 20), False),
        (RefreshAttempt(ago(hours=-1), "", 1), False),
        (RefreshAttempt("nonsense", "", 5), False),
    ],
)
def test_after_each_failure_it_waits_twice_as_long_but_never_more_than_a_day(
    attempt: RefreshAttempt, held: bool
) -> None:
    assert must_wait(attempt, AT) is held


def test_it_is_time_again_after_the_hours_that_a_person_has_set() -> None:
    done = RefreshAttempt(ago(hours=7), ago(hours=7))
    assert [overdue(done, hours, AT) for hours in (6, 7, 8, 0)] == [True, True, False, False]
    assert overdue(RefreshAttempt("", ago(hours=-20)), 6, AT), "the clock was set back"


def test_the_hours_are_a_setting(tmp_path: Path) -> None:
    home = filled_home(tmp_path / "data")
    environment = {"CLAUDE_CONFIG_DIR": str(tmp_path / "none")}
    for hours, stale in (("0", False), ("5", True), ("1000000", False)):
        with open_repertoire(home, environment={**NO_MODEL, "REPERTOIRE_REFRESH_HOURS": hours}) as repertoire:
            repertoire.store.sources.seen(SOURCE.key, now=now())
            past = {"started": ago(days=30), "finished": ago(days=30), "failures": 0, "reader": [99]}
            (home / "refresh.json").write_text(json.dumps(past), encoding="utf-8")
            assert is_refresh_due(repertoire, environment) is stale


def test_after_an_update_all_is_read_again_once_and_what_a_newer_version_read_stays(bench) -> None:
    environment = {"CLAUDE_CONFIG_DIR": str(bench.root / "none")}
    refresh(bench.store, bench.home, settings=Settings())
    done = json.loads((bench.home / "refresh.json").read_text())
    older, newer = ([*done["reader"][:-1], done["reader"][-1] + more] for more in (-1, 1))
    with open_repertoire(bench.home, environment=NO_MODEL) as repertoire:
        for reader, due in ((done["reader"], False), (newer, False), (older, True), ([], True)):
            (bench.home / "refresh.json").write_text(json.dumps({**done, "reader": reader}))
            assert is_refresh_due(repertoire, environment) is due, reader


def test_what_a_project_has_of_its_own_is_read_when_somebody_first_works_in_it_and_when_it_changes(
    bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    environment = {"CLAUDE_CONFIG_DIR": str(bench.root / "none")}

    def due_in(name: str) -> bool:
        monkeypatch.setenv("CLAUDE_PROJECT_DIR", str(bench.root / name))
        with open_repertoire(bench.home, environment=NO_MODEL) as repertoire:
            return is_refresh_due(repertoire, environment)

    def read(name: str, **later: int) -> None:
        monkeypatch.setenv("CLAUDE_PROJECT_DIR", str(bench.root / name))
        refresh(bench.store, bench.home, settings=Settings())
        at = (datetime.now(timezone.utc) + timedelta(**later)).strftime("%Y-%m-%dT%H:%M:%SZ")
        told = json.loads((bench.home / "refresh.json").read_text())
        told["projects"][str(bench.root / name)] = at
        (bench.home / "refresh.json").write_text(json.dumps(told))

    for name in ("first", "second"):
        bench.write({f".claude/skills/{name}/SKILL.md": skill(name, f"Does the {name}.")}, under=name)
    (bench.root / "bare").mkdir()
    read("first", seconds=9)
    assert [due_in(name) for name in ("first", "second", "bare")] == [False, True, False]
    read("bare")
    assert due_in("second")
    read("second", seconds=9)
    assert [due_in(name) for name in ("first", "second", "bare")] == [False, False, False]
    read("second", seconds=-9)
    assert due_in("second"), "a skill came after it was read"
    read("second", seconds=9)
    shutil.rmtree(bench.root / "second/.claude/skills")
    assert due_in("second")
    servers = bench.write({".mcp.json": '{"mcpServers": {"kiln": {"command": "kiln"}}}'}, under="second") / ".mcp.json"
    read("second", seconds=9)
    assert not due_in("second")
    servers.unlink()
    assert due_in("second"), "its servers are there no more"


@pytest.mark.parametrize("gone", ["third", "third/.claude"])
def test_what_a_project_had_is_removed_from_anywhere_and_told_of_once(
    bench, monkeypatch: pytest.MonkeyPatch, gone: str
) -> None:
    bench.write({".claude/skills/mine/SKILL.md": skill("mine", "Does the third.")}, under="third")
    monkeypatch.setenv("CLAUDE_PROJECT_DIR", str(bench.root / "third"))
    refresh(bench.store, bench.home, settings=Settings())
    assert bench.store.graph.by_name("mine")
    shutil.rmtree(bench.root / gone)
    (bench.root / "other").mkdir()
    monkeypatch.setenv("CLAUDE_PROJECT_DIR", str(bench.root / "other"))
    reports = refresh(bench.store, bench.home, settings=Settings())
    assert not bench.store.graph.by_name("mine")
    assert [(one.removed, one.warnings) for one in reports if one.source == f"project:{bench.root / 'third'}"] == [
        (1, ("it is no longer on this machine",))
    ]


def test_what_was_cut_off_or_is_nonsense_is_as_if_nothing_had_been_tried(tmp_path: Path) -> None:
    for text in ("", "{", "[]", '{"started": 3}', '{"started": "", "finished": "", "failures": "x"}'):
        (tmp_path / "refresh.json").write_text(text, encoding="utf-8")
        assert newest_attempt(tmp_path) == RefreshAttempt()


def test_a_refresh_notes_itself(bench) -> None:
    refresh(bench.store, bench.home, settings=Settings())

    assert newest_attempt(bench.home).failures == 0
    assert newest_attempt(bench.home).finished


def test_a_refresh_deletes_environments_that_were_unused_for_long(bench) -> None:
    unused, used = (bench.home / "env" / name / "bin" for name in ("0-unused", "0-used"))
    for folder in (unused, used):
        folder.mkdir(parents=True)
        (folder / "python").touch()
        (folder.parent / ".ready").touch()
    os.utime(unused.parent / ".ready", (0, 0))
    refresh(bench.store, bench.home, settings=Settings())
    assert [folder.exists() for folder in (unused, used)] == [False, True]


def test_a_link_among_the_clones_that_leads_nowhere_stops_no_refresh(bench) -> None:
    link = bench.home / "sources" / "moved-away"
    link.parent.mkdir(exist_ok=True)
    link.symlink_to(bench.root / "no drive")
    os.utime(link, (0, 0), follow_symlinks=False)
    refresh(bench.store, bench.home, settings=Settings())
    assert newest_attempt(bench.home).failures == 0
    assert link.is_symlink(), "somebody's own stays"


def test_what_changed_while_a_refresh_ran_or_before_one_source_was_ingested_is_read_by_the_next(tmp_path: Path) -> None:
    home, skills = filled_home(tmp_path / "data"), tmp_path / "claude/skills"
    skills.mkdir(parents=True)
    with open_repertoire(home, environment=NO_MODEL) as repertoire:
        repertoire.store.sources.seen(SOURCE.key, now=now())
        os.utime(skills, (0, 0))  # as what a backup restores: it came just now, and bears an old date
        came = datetime.fromtimestamp(skills.stat().st_ctime, timezone.utc)
        for after, due in ((10, False), (-20, True), (-60, True)):
            ran = (came + timedelta(seconds=after), came + timedelta(seconds=after + 40))
            started, finished = (f"{moment:%Y-%m-%dT%H:%M:%SZ}" for moment in ran)
            told = {"started": started, "finished": finished, "failures": 0, "reader": [99]}
            (home / "refresh.json").write_text(json.dumps(told), encoding="utf-8")
            assert is_refresh_due(repertoire, {"CLAUDE_CONFIG_DIR": str(skills.parent)}) is due


def test_a_folder_of_known_components_that_was_deleted_is_a_change(bench, monkeypatch: pytest.MonkeyPatch) -> None:
    config = bench.write({"skills/one/SKILL.md": skill("one")}, under="claude")
    environment = {"CLAUDE_CONFIG_DIR": str(config)}
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(config))
    time.sleep(1.1)  # a refresh that begins in the same second may have come too early for it
    refresh(bench.store, bench.home, settings=Settings())
    with open_repertoire(bench.home, environment=NO_MODEL) as repertoire:
        assert not is_refresh_due(repertoire, environment)

        shutil.rmtree(config / "skills")

        assert is_refresh_due(repertoire, environment)
        refresh(bench.store, bench.home, settings=Settings())
        assert not is_refresh_due(repertoire, environment)
