"""Starts a refresh in a background process, one for each home, and tells whether one runs; imports no ingestion."""

from __future__ import annotations

import contextlib
import errno
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

from repertoire.app.current_project import project_folder
from repertoire.boot.filelock import only_one
from repertoire.boot.layout import command, detached_flags
from repertoire.domain.database_file import unwritable_text
from repertoire.domain.errors import RepertoireError, StoreError, StoreFull, StoreReadOnly

RUNS_ALREADY = 75  # exit status of a refresh beside a session that another one came before


class RefreshRunning(RepertoireError):
    """Another process is refreshing this home."""


@contextlib.contextmanager
def one_refresh(home: Path, waiting: Callable[[], None] | None = None) -> Iterator[None]:
    """Hold the lock by which only one process at a time refreshes a home.

    With `waiting`, wait for another process, and call `waiting` again and again meanwhile.

    Raises:
        RefreshRunning: another process is refreshing, and `waiting` is not given.
        StoreReadOnly, StoreFull: the home cannot be written.
    """

    def taken(_seconds: int) -> None:
        if waiting is not None:
            waiting()
            return
        message = "another process is refreshing already; `repertoire status` shows its progress"
        raise RefreshRunning(message)

    with contextlib.ExitStack() as held:
        try:
            held.enter_context(only_one(home / "refresh.lock", taken))
        except OSError as error:
            if error.errno == errno.ENOSPC:
                message = f"no space left to write in {home} ({error.strerror}); free some and run it again"
                raise StoreFull(message) from error
            raise StoreReadOnly(unwritable_text(home, error.strerror)) from error
        yield


def running(home: Path) -> bool:
    """Return whether a process is refreshing a home now."""
    try:
        with one_refresh(home):
            return False
    except RefreshRunning:
        return True
    except StoreError:  # a refresh cannot even write its lock file, so none runs
        return False


def start_detached_refresh(home: Path) -> subprocess.Popen[bytes] | None:
    """Start a refresh of low priority that outlives this process.

    Return None if one is running already, or if its log cannot be written: the caller's answer must not fail for that.
    """
    if running(home):
        return None
    log = home / "log"
    try:
        log.mkdir(mode=0o700, exist_ok=True)
        output = (log / "refresh.log").open("wb")
    except OSError:
        return None
    with output:
        process = subprocess.Popen(
            command(Path(sys.executable), "repertoire", "refresh", "--quiet", "--unasked"),
            cwd=home,
            env={**os.environ, "REPERTOIRE_HOME": str(home), "CLAUDE_PROJECT_DIR": str(project_folder() or home)},
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=output,
            start_new_session=True,
            creationflags=detached_flags(),
        )
    with contextlib.suppress(OSError, AttributeError):  # the process has ended, or the platform has no priorities
        os.setpriority(os.PRIO_PROCESS, process.pid, 10)
    return process
