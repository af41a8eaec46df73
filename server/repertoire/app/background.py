"""Starts the machine's one refresh beside this process, and tells whether one runs; imports nothing that ingests."""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

from repertoire.app.project import project_folder
from repertoire.boot.filelock import only_one
from repertoire.boot.layout import apart, command
from repertoire.domain.errors import RepertoireError


class RefreshRunning(RepertoireError):
    """Another process is refreshing this home."""


@contextlib.contextmanager
def one_refresh(home: Path) -> Iterator[None]:
    """Let one process on this machine refresh a home at a time.

    Raises:
        RefreshRunning: another one is at it.
    """

    def taken(_seconds: int) -> None:
        message = "another process is refreshing already; `repertoire status` tells how far it is"
        raise RefreshRunning(message)

    with only_one(home / "refresh.lock", taken):
        yield


def running(home: Path) -> bool:
    """Tell whether a process is refreshing a home now."""
    try:
        with one_refresh(home):
            return False
    except RefreshRunning:
        return True
    except OSError:  # no room for its lock file: none can run here
        return False


def start_detached_refresh(home: Path) -> subprocess.Popen[bytes] | None:
    """Start a refresh that outlives this process and yields to all others.

    None where one is running already, or where there is no room for its log: what was asked is answered all the same.
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
            command(Path(sys.executable), "repertoire", "refresh", "--quiet"),
            cwd=home,
            env={**os.environ, "REPERTOIRE_HOME": str(home), "CLAUDE_PROJECT_DIR": str(project_folder() or home)},
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=output,
            start_new_session=True,
            creationflags=apart(),
        )
    with contextlib.suppress(OSError, AttributeError):  # gone already, or a platform without niceness
        os.setpriority(os.PRIO_PROCESS, process.pid, 10)
    return process
