"""Starts the machine's one refresh beside this process, and tells whether one runs; imports nothing that ingests."""

from __future__ import annotations

import contextlib
import errno
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

from repertoire.app.project import project_folder
from repertoire.boot.filelock import only_one
from repertoire.boot.layout import command, detached_flags
from repertoire.domain.database_file import unwritable_text
from repertoire.domain.errors import RepertoireError, StoreError, StoreFull, StoreReadOnly


class RefreshRunning(RepertoireError):
    """Another process is refreshing this home."""


@contextlib.contextmanager
def one_refresh(home: Path, waiting: Callable[[], None] | None = None) -> Iterator[None]:
    """Let one process on this machine refresh a home at a time.

    Where `waiting` is given, another one is waited for, and `waiting` called again and again meanwhile.

    Raises:
        RefreshRunning: another one is at it, and is not to be waited for.
        StoreReadOnly, StoreFull: the home cannot be written.
    """

    def taken(_seconds: int) -> None:
        if waiting is not None:
            waiting()
            return
        message = "another process is refreshing already; `repertoire status` tells how far it is"
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
    """Tell whether a process is refreshing a home now."""
    try:
        with one_refresh(home):
            return False
    except RefreshRunning:
        return True
    except StoreError:  # no room for its lock file: none can run here
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
            command(Path(sys.executable), "repertoire", "refresh", "--quiet", "--unasked"),
            cwd=home,
            env={**os.environ, "REPERTOIRE_HOME": str(home), "CLAUDE_PROJECT_DIR": str(project_folder() or home)},
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=output,
            start_new_session=True,
            creationflags=detached_flags(),
        )
    with contextlib.suppress(OSError, AttributeError):  # gone already, or a platform without niceness
        os.setpriority(os.PRIO_PROCESS, process.pid, 10)
    return process
