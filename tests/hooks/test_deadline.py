"""The session hook keeps its deadline even if the interpreter's lock is held, and its hint is recorded all the same.

What hangs here is an expression of exponential time in the place of a module of a copied plugin: no other thread runs
while it matches.
"""

from __future__ import annotations

import json
import os
import resource
import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from hooks.starting import HOOK, HOSTILE, Run, context, make_project, store_with
from repertoire.app.session.spool import take_in
from repertoire.boot.spool import FOLDER, waiting
from repertoire.domain.event import OFFERED
from repertoire.store.database import Store

ENDS_S = 12  # the deadline is 1.2 s after Python has started, and a busy machine starts it late; the work takes years
HANGS = "import re; re.fullmatch('(a|a)*b', 'a' * 60)"
PYTHONS = ("3.9", "3.10", "3.11", "3.12", "3.13")
ALONE = "import os, runpy, sys; del os.fork; runpy.run_path(sys.argv[1], run_name='__main__')"
TIMES = 4  # the processor time of a usual start

Start = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture
def plugin(tmp_path: Path) -> Path:
    """Return a copy of the plugin as far as a session's start needs it, to be broken."""
    root = HOOK.parents[1]
    copy = tmp_path / "plugin"
    shutil.copytree(root / "hooks", copy / "hooks", ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copytree(
        root / "server" / "repertoire",
        copy / "server" / "repertoire",
        ignore=shutil.ignore_patterns("models", "__pycache__"),
    )
    return copy


@pytest.fixture
def start(plugin: Path, project: Path, home: Path, tmp_path: Path) -> Start:
    def run(*before: str, python: object = sys.executable, **options: object) -> subprocess.CompletedProcess[str]:
        told = {"session_id": "s", "cwd": str(project), "source": "startup"}
        return subprocess.run(
            [str(python), "-I", "-S", *before, str(plugin / "hooks" / "session_start.py")],
            **{"input": json.dumps(told), "stdout": subprocess.PIPE, **options},
            env={"HOME": str(tmp_path), "REPERTOIRE_HOME": str(home)},
            stderr=subprocess.PIPE,
            text=True,
            check=False,
            timeout=ENDS_S,
        )

    return run


def python_of(version: str) -> Path:
    found = sorted(Path(os.environ.get("PYENV_ROOT", "/root/.pyenv"), "versions").glob(f"{version}.*/bin/python3"))
    if not found:
        pytest.skip(f"NOT TESTED: no Python {version} on this machine")
    return found[-1]


def add(plugin: Path, module: str, text: str) -> None:
    with (plugin / "server" / "repertoire" / module).open("a", encoding="utf-8") as file:
        file.write(f"\n{text}\n")


def noted(home: Path) -> int:
    """Return how many offers are in the log when what waits beside it was taken in."""
    with Store.open(home / "repertoire.db") as store:
        take_in(store)
        return store.events.count(OFFERED)


@pytest.mark.parametrize("version", PYTHONS)
def test_an_expression_that_never_ends_does_not_hold_a_session(
    version: str, start: Start, plugin: Path, home: Path
) -> None:
    store_with(home)
    add(plugin, "catalogue/profile.py", f"def read_profile(*_): {HANGS}")
    done = start(python=python_of(version))
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    assert not (home / FOLDER).exists()  # what was not said is not noted
    assert noted(home) == 0


@pytest.mark.parametrize("version", PYTHONS)
def test_what_was_said_waits_in_the_spool_whoever_has_the_database_locked(
    version: str, start: Start, home: Path
) -> None:
    store_with(home)
    with closing(sqlite3.connect(home / "repertoire.db", isolation_level=None)) as db:
        db.execute("BEGIN IMMEDIATE")
        # on a busy machine the first start may say nothing in time: it compiles the modules of the copy
        told = next(filter(None, (context(start(python=python_of(version))) for _ in range(5))), "")
        assert "fastapi-templates" in told
    assert len(waiting(home)) == 1
    assert noted(home) == 2


@pytest.mark.parametrize(
    "end", ["os.kill(os.getpid(), 9)", "os._exit(1)", "raise RuntimeError", "sys.stdout.write('x' * 99)", "os.abort()"]
)
def test_nothing_is_said_or_noted_by_a_child_that_ends_before_it_is_done(
    start: Start, plugin: Path, home: Path, end: str
) -> None:
    store_with(home)
    add(plugin, "app/session/greet.py", f"import sys\ndef owed(*_): {end}; raise OSError")
    done = start()
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    assert noted(home) == 0


def test_what_nobody_reads_is_not_noted(start: Start, home: Path) -> None:
    store_with(home)
    read, write = os.pipe()
    os.set_blocking(write, False)
    try:
        while True:
            os.write(write, b"x" * 4096)
    except BlockingIOError:
        os.set_blocking(write, True)
    assert start(stdout=write).returncode == 0
    os.close(read)
    assert start(stdout=write).returncode == 0  # nobody could read it any more
    os.close(write)
    assert noted(home) == 0


def test_no_process_is_left_behind(start: Start, plugin: Path, home: Path, tmp_path: Path) -> None:
    store_with(home)
    place = tmp_path / "child"
    add(plugin, "catalogue/profile.py", f"import os\nopen({str(place)!r}, 'w').write(str(os.getpid()))\n")
    assert "fastapi-templates" in context(start())
    with pytest.raises(ProcessLookupError):
        os.kill(int(place.read_text()), 0)
    add(plugin, "catalogue/profile.py", f"def read_profile(*_): {HANGS}")
    start()
    with pytest.raises(ProcessLookupError):
        os.kill(int(place.read_text()), 0)


@pytest.mark.parametrize("version", PYTHONS)
def test_without_a_fork_it_says_and_notes_the_same_and_ends_in_time(
    version: str, start: Start, plugin: Path, home: Path
) -> None:
    store_with(home)
    python = python_of(version)
    assert "fastapi-templates" in context(start("-c", ALONE, python=python))
    assert len(waiting(home)) == 1
    assert noted(home) == 2
    add(plugin, "catalogue/profile.py", "def read_profile(*_): import time; time.sleep(60)")
    done = start("-c", ALONE, python=python)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    add(plugin, "catalogue/profile.py", f"def read_profile(*_): {HANGS}")
    done = start("-c", ALONE, python=python)
    assert (done.returncode, done.stdout, done.stderr) == (1, "", "")  # nobody is left who could say 0


def test_hostile_manifests_cost_a_start_little_more_than_others(run: Run, tmp_path: Path) -> None:
    plain = make_project(tmp_path / "plain", dict.fromkeys(HOSTILE, "") | {"Pipfile": "fastapi = 1"})
    hostile = make_project(tmp_path / "hostile", HOSTILE | {"Pipfile": "fastapi = 1"})
    run(plain)  # compiled now
    usual, spent = (min(_spent(run, folder) for _ in range(3)) for folder in (plain, hostile))
    assert spent < TIMES * usual


def _spent(run: Run, project: Path) -> float:
    """Return the processor time of a start in a project, in which it says the same as without the hostile files."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    assert "fastapi" in context(run(project))
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime
