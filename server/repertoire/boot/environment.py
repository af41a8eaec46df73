"""Builds the locked environment, and only once, even if several processes ask or an earlier build was killed."""

from __future__ import annotations

import contextlib
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

from repertoire.boot import filelock, installer, interpreter, layout
from repertoire.boot.errors import BootError, HomeError, InstallError
from repertoire.boot.home import environment_path, log_path, writable
from repertoire.boot.layout import BASE, MARKER, command, detached_flags, key, python_of, ready
from repertoire.boot.progress import BuildProgress, silent

__all__ = ["command", "ensure", "failure", "key", "python_of", "ready", "start_detached"]

UNUSED_DAYS = 30  # a finished environment unused for longer is deleted
UNFINISHED_DAYS = 1  # an unfinished environment older than this is deleted
LOG_LIMIT = 1_000_000  # bytes; a longer log is deleted before the next build


def ensure(home: Path, *, report: BuildProgress = silent, kind: str = BASE) -> Path:
    """Return the Python of the locked environment of a kind, and build it first if necessary.

    Raises: BootError, one line that says what failed and what to do.
    """
    python = ready(home, kind)
    if python is not None:
        return python
    root = _prepare(home)
    note = _note(home, kind)
    with filelock.only_one(root / ".lock", partial(report, "waiting for another process that builds the environment")):
        python = ready(home, kind)
        if python is None:
            try:
                note.unlink(missing_ok=True)
                python = _build(home, report, kind)
            except BootError as error:
                with contextlib.suppress(OSError):  # the disk itself may have failed
                    note.write_text(str(error), encoding="utf-8")
                raise
    return python


def failure(home: Path) -> str | None:
    """Return in one line why the last build failed; None if it did not fail."""
    try:
        return _note(home, BASE).read_text(encoding="utf-8").strip() or None
    except OSError:
        return None


def start_detached(home: Path) -> subprocess.Popen[bytes]:
    """Start a build at low priority that goes on when the process that asked for it ends.

    Raises: HomeError when no folder can be written for it.
    """
    _prepare(home)
    return subprocess.Popen(
        command(Path(sys.executable), "repertoire.boot.build", "--detached"),
        env=dict(os.environ, REPERTOIRE_HOME=str(home)),
        cwd=home,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
        creationflags=detached_flags(),
    )


def sweep(home: Path) -> None:
    """Delete environments that were unused for long, as an older version's is; the one that this runs in is in use."""
    layout.stamp(Path(sys.prefix))
    _sweep(home, "")


def _prepare(home: Path) -> Path:
    root, log = environment_path(home), log_path(home)
    try:
        root.mkdir(mode=0o700, parents=True, exist_ok=True)
        log.parent.mkdir(mode=0o700, exist_ok=True)
        if log.exists() and log.stat().st_size > LOG_LIMIT:
            log.unlink()
        usable = writable(root)
    except OSError:
        usable = False
    if not usable:
        message = (
            f"the environment is not built yet and {home} cannot be written: run `repertoire status` once where it can "
            "(outside a sandbox, with space on the disk), or set REPERTOIRE_HOME to a folder that can be written"
        )
        raise HomeError(message)
    return root


def _build(home: Path, report: BuildProgress, kind: str) -> Path:
    interpreter.refuse_machine()
    start = key(kind)
    _sweep(home, start)
    uv = installer.uv()
    attempts: list[Callable[[installer.Job], None]] = [installer.with_pip]
    if uv is not None:  # pip stays the second try: it knows mirrors and certificates that uv does not
        attempts.insert(0, partial(installer.with_uv, uv))
    elif installer.may_fetch_uv():
        attempts.insert(0, installer.with_fetched_uv)
    errors: list[BootError] = []
    for attempt in attempts:
        # A folder of its own for each attempt: the installer of a killed build may still be writing into the last.
        env = environment_path(home) / f"{start}-{os.urandom(4).hex()}"
        try:
            attempt(installer.Job(env, layout.lock_file(kind), log_path(home), report))
            (env / MARKER).touch()
        except OSError as error:
            errors.append(InstallError(f"cannot write in {home} ({error.strerror}); free some space and try again"))
        except BootError as error:
            errors.append(error)
        else:
            return python_of(env)
        shutil.rmtree(env, ignore_errors=True)
    raise errors[0]


def _sweep(home: Path, start: str) -> None:
    """Delete unfinished builds of this lock, if one is given, and environments that were not used for long."""
    for env in layout.environments(home):
        ours = bool(start) and env.name.startswith(start)
        finished = layout.is_finished(env)
        stale_after = UNUSED_DAYS if finished else UNFINISHED_DAYS
        if (ours and not finished) or _idle_days(env) > stale_after:
            shutil.rmtree(env, ignore_errors=True)


def _idle_days(env: Path) -> float:
    with contextlib.suppress(OSError):
        marker = env / MARKER
        return (time.time() - (marker if marker.exists() else env).stat().st_mtime) / layout.DAY_S
    return 0.0


def _note(home: Path, kind: str) -> Path:
    return environment_path(home) / f"{key(kind)}.failed"
