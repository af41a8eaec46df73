"""The command line before a damaged database: one message that says what failed and what became of it, status 1."""

from __future__ import annotations

import contextlib
import json
import random
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from cli.conftest import Run
from ingestion.workbench import repository
from privileges import held_back
from repertoire.app.health.doctor_store import database
from repertoire.store.database import Store
from sample_home import NOW, SOURCE, filled_home
from store.damages import DAMAGES, PAGE, overwrite, spoil, spoil_tables

NO_MODEL = {"REPERTOIRE_MODEL": "none/at-all"}  # loading it takes longer than all that is tested here


@pytest.fixture
def home(environment: dict[str, str]) -> Path:
    return filled_home(Path(environment["REPERTOIRE_HOME"]), installed=("pdf-forms",))


def test_a_command_that_meets_damage_mends_it_and_the_next_one_goes_on(run: Run, home: Path) -> None:
    with Store.open(home / "repertoire.db") as store:
        store.preferences.mute(f"{SOURCE.key}:mcp_servers/postgres.md", "component", now=NOW)
        store.backup.write(now=NOW)
    overwrite(home / "repertoire.db", 0, random.Random(1).randbytes(PAGE))
    first = run("search", "fill PDF forms", **NO_MODEL)
    assert (first.returncode, first.stdout) == (1, "")
    assert first.stderr.startswith(f"repertoire: {home / 'repertoire.db'} was damaged (")
    assert first.stderr.endswith("try again\n")
    assert first.stderr.count("\n") == 1
    again = run("status")
    assert again.returncode == 0, again.stderr
    assert "Note: the database was damaged and mended on 2" in again.stdout
    assert "folder:/shelf (folder): 0 components, read not yet" in again.stdout
    assert "postgres" in again.stdout, "what was muted stays muted"
    assert run("search", "fill PDF forms", **NO_MODEL).returncode == 0
    sound = run("rescue")
    assert (sound.returncode, sound.stdout) == (0, f"{home / 'repertoire.db'} is sound\n")
    findings = json.loads(run("doctor", "--json").stdout)["findings"]
    [told] = [finding for finding in findings if finding["check"] == "rescued"]
    assert told["state"] == "ok"
    assert "mutes (1)" in told["text"]
    [kept] = home.glob("repertoire.db.damaged-*")
    assert f"delete them: {kept}" in run("forget", "--requests", "--yes").stdout
    assert (home / "repertoire.db").exists()
    assert len(list(home.glob("repertoire.db.damaged-*"))) == 1


def test_damage_that_no_command_has_met_yet_is_found_and_mended_on_request(run: Run, home: Path) -> None:
    with Store.open(home / "repertoire.db") as store:
        assert store.graph.revision()
    spoil(home / "repertoire.db", 1.0)
    done = run("rescue", "--json")
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    assert told["sound"] is False
    assert (home / told["kept"]).exists()
    assert "Traceback" not in done.stderr


def test_a_list_of_sources_that_is_lost_comes_back_as_the_last_ingest_or_removal_left_it(
    run: Run, home: Path, tmp_path: Path, skill: Callable[..., Path]
) -> None:
    for name in ("pebble-counting", "shell-sorting"):
        skill(tmp_path / name, name, "Counts what lies on a beach.")
        assert run("ingest", str(tmp_path / name)).returncode == 0
    assert run("remove", f"folder:{tmp_path / 'shell-sorting'}").returncode == 0
    spoil_tables(home / "repertoire.db", "source")
    told = run("rescue").stdout
    assert "; from the backup of 2" in told
    assert ": sources (2); what was recorded after it (at most 1 minute) is lost of: sources; " in told
    assert run("refresh", "--text-only").returncode == 0
    with Store.open(home / "repertoire.db") as store:
        assert "pebble-counting" in {summary.name for summary in store.graph.summaries()}
        assert f"folder:{tmp_path / 'shell-sorting'}" not in {row.info.key for row in store.sources.all()}


def test_a_backup_is_written_by_a_refresh_and_told_by_doctor(run: Run, home: Path) -> None:
    def told() -> dict[str, str]:
        findings = json.loads(run("doctor", "--json").stdout)["findings"]
        return next(finding for finding in findings if finding["check"] == "backup")

    backup = home / "repertoire.db.backup"
    assert (told()["state"], told()["mend"]) == ("warn", "run `repertoire refresh`, which writes it")
    assert run("refresh", "--text-only").returncode == 0
    assert (told()["state"], str(backup) in told()["text"]) == ("ok", True)
    overwrite(backup, 100, random.Random(1).randbytes(PAGE))
    assert (told()["state"], "is damaged" in told()["text"]) == ("warn", True)
    assert run("refresh", "--text-only").returncode == 0
    assert told()["state"] == "ok"
    assert run("forget", "--all", "--yes").returncode == 0
    assert not backup.exists()


@pytest.mark.parametrize("content", [b"", b"a diary\n" * 1000])
def test_an_empty_file_becomes_ours_and_another_programs_is_named(run: Run, home: Path, content: bytes) -> None:
    for left in home.iterdir():
        left.unlink()
    (home / "repertoire.db").write_bytes(content)
    done = run("sources")
    if content:
        assert (done.returncode, done.stdout) == (1, "")
        assert "is not a Repertoire database; move it away or set REPERTOIRE_HOME" in done.stderr
        assert (home / "repertoire.db").read_bytes() == content
        assert run("rescue").returncode == 1
    else:
        assert (done.returncode, done.stderr) == (0, "")
        assert "no sources yet" in done.stdout


def test_a_database_that_was_emptied_is_no_new_one_and_comes_back_from_the_backup(
    run: Run, home: Path, tmp_path: Path, skill: Callable[..., Path]
) -> None:
    path = home / "repertoire.db"
    skill(tmp_path / "origin", "pebble-counting", "Counts pebbles on a beach.")
    origin = repository(tmp_path / "origin")
    trace = ("--title", "The build runs out of memory", "--context", "In CI.", "--solution", "Raise the limit.")
    assert run("trace", "contribute", *trace, "--yes").returncode == 0
    assert run("ingest", origin.as_uri()).returncode == 0
    path.write_bytes(b"")
    found = {one.check: one for one in database(path, "", None, "")}
    assert (found["database"].state, "`repertoire rescue`" in found["database"].mend) == ("fail", True)
    told = run("search", "fill PDF forms", **NO_MODEL)
    assert told.returncode == 1
    assert f"{path} was damaged (it is empty, and was not before) and is kept as repertoire.db.damaged-" in told.stderr
    assert "from the backup of 2" in told.stderr
    assert ", traces (1); " in told.stderr
    assert f"folder:{origin} (git)" in run("sources").stdout
    assert len(list(home.glob("repertoire.db.damaged-*"))) == 1


def _text(path: Path) -> None:
    path.write_text("a diary\n" * 1000)


def _link(path: Path) -> None:
    path.symlink_to("/nowhere/repertoire.db")


def _other(path: Path) -> None:
    with contextlib.closing(sqlite3.connect(path)) as db:
        db.execute("CREATE TABLE theirs(x)")


def _newer(path: Path) -> None:
    with Store.open(path):
        pass
    overwrite(path, 60, (99).to_bytes(4, "big"))


@pytest.mark.parametrize("make", [_text, Path.mkdir, _link, _other, _newer])
def test_every_door_says_the_same_of_what_lies_at_the_databases_place(
    run: Run, home: Path, make: Callable[[Path], None]
) -> None:
    path = home / "repertoire.db"
    for left in home.iterdir():
        left.unlink()
    make(path)
    told = run("search", "fill PDF forms", **NO_MODEL)
    assert told.returncode == 1
    said = told.stderr.removeprefix("repertoire: ").rstrip()
    advice = {_link: "move the link away", _newer: "update the plugin"}.get(make, "move it away")
    assert advice in said
    assert run("rescue").stderr == told.stderr
    [found] = [one for one in database(path, "", None, "") if one.check == "database"]
    assert (found.state, f"{found.text}; {found.mend}") == ("fail", said)


def test_a_home_that_cannot_be_written_is_no_damage_to_any_door(
    environment: dict[str, str], home: Path, tmp_path: Path
) -> None:
    def call(*words: str) -> subprocess.CompletedProcess[str]:
        line = held_back([sys.executable, "-m", "repertoire", *words])
        around = {**environment, **NO_MODEL, "REPERTOIRE_PYTHON": sys.executable}
        return subprocess.run(line, env=around, cwd=tmp_path, capture_output=True, text=True, timeout=120, check=False)

    (home / "repertoire.db").chmod(0o444)
    home.chmod(0o555)
    try:
        findings = {one["check"]: one for one in json.loads(call("doctor", "--json").stdout)["findings"]}
        rescued, refreshed = call("rescue"), call("refresh")
        home.chmod(0o755)
        (home / "repertoire.db").rename(tmp_path / "repertoire.db")
        home.chmod(0o555)
        none = {one["check"]: one for one in json.loads(call("doctor", "--json").stdout)["findings"]}["database"]
    finally:
        home.chmod(0o755)
    assert "none can be made there" in none["text"]
    assert "REPERTOIRE_HOME" in none["mend"]
    assert "it is sound, and cannot be written" in findings["database"]["text"]
    assert "REPERTOIRE_HOME" in findings["database"]["mend"]
    assert "rescue" not in str([findings["database"], findings["home"]])
    assert findings["sources"]["text"].startswith("1, with ")
    assert (rescued.returncode, "is sound; it cannot be written" in rescued.stdout) == (0, True)
    assert refreshed.returncode == 1
    assert "cannot be written" in refreshed.stderr
    assert "REPERTOIRE_HOME" in refreshed.stderr


@pytest.mark.parametrize("kind", DAMAGES)
def test_the_session_hook_says_nothing_of_damage(home: Path, kind: str, tmp_path: Path) -> None:
    path = home / "repertoire.db"
    DAMAGES[kind](path)
    before = path.read_bytes()
    project = tmp_path / "web"
    project.mkdir()
    (project / "requirements.txt").write_text("fastapi\n")
    told = json.dumps({"session_id": "s1", "cwd": str(project), "source": "startup"})
    done = hook(told, {"HOME": str(tmp_path), "REPERTOIRE_HOME": str(home)})
    assert (done[0], done[2]) == (0, b""), "a project may still be told what the shipped catalogue or whole pages say"
    assert not done[1] or json.loads(done[1])["hookSpecificOutput"]["additionalContext"]
    assert path.read_bytes() == before


def hook(told: str, environment: dict[str, str]) -> tuple[int, bytes, bytes]:

    script = Path(__file__).parents[2] / "hooks" / "session_start.py"
    done = subprocess.run(
        [sys.executable, "-I", "-S", script], input=told.encode(), env=environment, capture_output=True, check=False
    )
    return done.returncode, done.stdout, done.stderr
