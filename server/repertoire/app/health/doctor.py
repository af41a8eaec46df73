"""Checks each part of the installation, with the standard library alone, so that it runs when nothing else does."""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from repertoire.app.health.disk_space import MEND, lacking
from repertoire.app.health.doctor_client import registration, release, session_hook
from repertoire.boot import home as homes
from repertoire.boot import installer, interpreter
from repertoire.boot.environment import command, failure, ready
from repertoire.boot.errors import BootError
from repertoire.boot.layout import checkout, lock_file
from repertoire.domain.errors import ModelUnavailable, RepertoireError
from repertoire.domain.health import FAIL, OK, WARN, Finding, finding_of
from repertoire.domain.text import few
from repertoire.inference import weights
from repertoire.installing.journal import UNDONE, Journal
from repertoire.settings import Settings, load

_INSIDE_S = 60  # time limit of the package check in the environment
_INSTALLS = "installations"
_NAMED = 4  # packages that one finding names


def examine(environment: Mapping[str, str], *, project: Path) -> Iterator[Finding]:
    """Yield a finding for each check, each after those that it depends on; only a time stamp is written."""
    try:
        home = homes.locate()
    except BootError as error:
        yield finding_of("home", FAIL, str(error))
        return
    python = _ready(home)
    yield _interpreter(built=isinstance(python, Path))
    yield _home(home)
    yield from _environment(home, python)
    settings = Settings()
    try:
        settings = load(home, environment)
        yield Finding("settings", OK, "read")
    except RepertoireError as error:
        yield finding_of("settings", FAIL, str(error))
    model, found = _model(home, settings)
    yield found
    yield from _database(home, model, python if isinstance(python, Path) else None, project)
    yield from _installations(home)
    yield session_hook(checkout(), environment)
    yield from release(environment)
    yield from registration(checkout(), environment, project=project)


def _ready(home: Path) -> Path | BootError | None:
    try:
        return ready(home)
    except BootError as error:
        return error


def _interpreter(*, built: bool) -> Finding:
    here = f"started by {'.'.join(map(str, sys.version_info[:3]))}"
    tool = installer.uv()
    try:
        interpreter.refuse_machine()
    except BootError as error:
        message = str(error).partition(": ")
        return Finding("interpreter", WARN if built else FAIL, message[0], message[2])
    try:
        found = interpreter.find(needs_ensurepip=tool is None)
    except BootError as error:
        if tool is not None or installer.may_fetch_uv():
            return Finding("interpreter", OK, f"{here}; uv fetches one for the environment")
        message = str(error).partition(": ")
        return Finding("interpreter", WARN if built else FAIL, f"{here}; {message[0]}", message[2])
    return Finding("interpreter", OK, f"{found}, {here}")


def _home(home: Path) -> Finding:
    nearest = next((folder for folder in (home, *home.parents) if folder.exists()), home)
    if nearest != home and homes.writable(nearest):
        return Finding("home", WARN, f"{home} does not exist yet", "nothing: the first command creates it")
    if nearest != home:
        mend = "set REPERTOIRE_HOME to a folder that can be written"
        return Finding("home", FAIL, f"{home} cannot be created, for {nearest} cannot be written", mend)
    if not home.is_dir() or not homes.writable(home):
        mend = "set REPERTOIRE_HOME to a folder that can be written, or correct its owner and mode"
        return Finding("home", FAIL, f"{home} cannot be written", mend)
    short = lacking(home)
    if short:
        return Finding("home", WARN, short, MEND)
    if sys.platform != "win32" and home.stat().st_mode & 0o077:
        return Finding("home", WARN, f"other users can enter {home}", f"chmod 700 {shlex.quote(str(home))}")
    return Finding("home", OK, str(home))


def _environment(home: Path, python: Path | BootError | None) -> Iterator[Finding]:
    """Yield findings on the Python environment and on the vector extension in it."""
    if isinstance(python, BootError):
        yield finding_of("environment", FAIL, str(python))
        return
    if python is None:
        yield _unbuilt(home)
        return
    given = bool(os.environ.get("REPERTOIRE_PYTHON"))
    anew = f"remove {python.parent.parent}; the next command builds it anew"
    mend = f"install what {lock_file()} lists there, or unset REPERTOIRE_PYTHON" if given else anew
    report = _inside(python)
    if isinstance(report, str):
        yield Finding("environment", FAIL, f"{python} cannot tell what it holds: {report}", mend)
        return
    yield _packages(python, report, mend)
    if report["trouble"]:
        yield Finding("vectors", FAIL, f"sqlite-vec does not load: {report['trouble']}", mend)
    else:
        yield Finding("vectors", OK, f"sqlite-vec {report['vectors']} loads")


def _unbuilt(home: Path) -> Finding:
    try:
        why = failure(home)
    except BootError as error:
        return finding_of("environment", FAIL, str(error))
    mend = "run `repertoire status`, which builds it"
    if why:
        return Finding(
            "environment", FAIL, f"the last build failed: {why}", f"{mend}; the log is {homes.log_path(home)}"
        )
    return Finding("environment", WARN, "not built yet", mend)


def _inside(python: Path) -> dict[str, Any] | str:
    """Run the package check in the environment; return its report, or the reason why it failed."""
    line = command(python, "repertoire.boot.package_check", str(lock_file()))
    try:
        done = subprocess.run(line, capture_output=True, text=True, timeout=_INSIDE_S, check=False)
        found = json.loads(done.stdout) if done.returncode == 0 else None
    except (OSError, subprocess.SubprocessError, ValueError) as error:
        return str(error)[:200]
    if not isinstance(found, dict):
        return (done.stderr.strip().splitlines() or [f"status {done.returncode}"])[-1][:200]
    return found


def _packages(python: Path, report: Mapping[str, Any], mend: str) -> Finding:
    trouble = []
    if report["missing"]:
        trouble.append(f"missing: {few(report['missing'], _NAMED)}")
    if report["broken"]:
        trouble.append(
            f"cannot be imported: {few([f'{name} ({why})' for name, why in report['broken'].items()], _NAMED)}"
        )
    if trouble:
        return Finding("environment", FAIL, "; ".join(trouble), mend)
    if report["differing"]:
        return Finding("environment", WARN, f"not as locked: {few(report['differing'], _NAMED)}", mend)
    return Finding("environment", OK, f"Python {report['python']}, {report['packages']} packages as locked, {python}")


def _model(home: Path, settings: Settings) -> tuple[str, Finding]:
    """Return the model's name in the vector tables, "" if it cannot be used, and the finding on the model."""
    try:
        found = weights.find(settings.model, cache=home / "models")
        weights.verify(found)
    except ModelUnavailable as error:
        return "", finding_of("model", FAIL, str(error))
    except OSError as error:
        return "", Finding("model", FAIL, f"cannot be read ({error})", "install the plugin again")
    return found.model, Finding("model", OK, f"{found.model}, {found.bytes / 1e6:.1f} MB, checksums hold")


def _database(home: Path, model: str, python: Path | None, project: Path) -> Iterator[Finding]:
    try:
        from repertoire.app.health.doctor_store import database, memories  # noqa: PLC0415 - a Python may have no sqlite3
    except ImportError as error:
        lacking = "sqlite3" in str(error.name)
        mend = "let `python3` be a Python that has sqlite3: the session hook needs it too"
        yield Finding(
            "database", FAIL, f"cannot be examined ({error})", mend if lacking else "install the plugin again"
        )
        return
    yield from database(homes.database_path(home), model, python, str(project))
    yield from memories(home)


def _installations(home: Path) -> Iterator[Finding]:
    """Yield findings on what `install` made, if anything: each that cannot be undone, or that stopped half-way."""
    journal = Journal(home)
    for message in journal.unreadable().values():
        yield finding_of(_INSTALLS, WARN, message)
    stopped = journal.unfinished()
    if stopped is not None:
        mend = f"run `repertoire install --undo {stopped.name}`"
        yield Finding(_INSTALLS, WARN, f"installation {stopped.name} stopped half-way", mend)
    left = [entry for entry in journal.entries() if entry.state != UNDONE]
    if left:
        text = f"{len(left)} not undone; what files held before them is kept in {journal.folder}"
        yield Finding(_INSTALLS, OK, text)
