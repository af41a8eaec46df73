"""Finds the environment that is ready, and the command that runs a module in it; cheap enough for every start."""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import NoReturn

from repertoire.boot.errors import BootError
from repertoire.boot.home import environment_path

BASE, COMMONS, DEV = "", "commons", "dev"  # environments: the plugin's own, with a commons' server, with all tools
LOCKS = {BASE: "requirements.lock", COMMONS: "requirements-commons.lock", DEV: "requirements-dev.lock"}
# A Python that already has the packages is named by the variable; the plugin's own need not hold a commons' server.
GIVEN = {BASE: "REPERTOIRE_PYTHON", COMMONS: "REPERTOIRE_COMMONS_PYTHON", DEV: "REPERTOIRE_PYTHON"}
MARKER = ".ready"  # written last, so that an environment without it was never finished
DAY_S = 86_400


def checkout() -> Path:
    """Return the folder that holds this copy of the plugin."""
    return Path(__file__).resolve().parents[3]


def lock_file(kind: str = BASE) -> Path:
    """Return the path of the lock file, which pins the packages of a kind of environment."""
    return checkout() / LOCKS[kind]


def uv_lock_file() -> Path:
    """Return the path of the lock file of uv itself, which installs the others' packages."""
    return checkout() / "requirements-uv.lock"


def key(kind: str = BASE) -> str:
    """Return the prefix of an environment's folder name: the lock's hash and the platform.

    Raises: BootError when the lock is not there.
    """
    lock = lock_file(kind)
    try:
        digest = hashlib.sha256(lock.read_bytes()).hexdigest()[:12]
    except OSError as error:
        message = f"cannot read {lock} ({error.strerror}); install the plugin again"
        raise BootError(message) from error
    machine = os.uname().machine if sys.platform != "win32" else os.environ.get("PROCESSOR_ARCHITECTURE", "")
    return f"{digest}-{sys.platform}-{machine.lower()}"


def python_of(env: Path) -> Path:
    """Return the path of the Python inside an environment."""
    return env / "Scripts" / "python.exe" if sys.platform == "win32" else env / "bin" / "python"


def ready(home: Path, kind: str = BASE) -> Path | None:
    """Return the Python of a finished environment of a kind; None if there is none.

    The variable in GIVEN names a Python that already has the packages and replaces the environment.
    Raises: BootError when that names nothing, or the lock is not there.
    """
    given = os.environ.get(GIVEN[kind], "")
    if given:
        if os.access(given, os.X_OK):
            return Path(given).absolute()
        message = f"{GIVEN[kind]} names {given}, which cannot be run; correct it or unset it"
        raise BootError(message)
    for env in environments(home, key(kind)):
        if is_finished(env):
            stamp(env)
            return python_of(env)
    return None


def environments(home: Path, start: str = "") -> list[Path]:
    """List the folders of environments, finished or not, whose name has this prefix."""
    root = environment_path(home)
    try:
        return sorted(env for env in root.iterdir() if env.name.startswith(start) and env.is_dir())
    except OSError:  # not there yet, or not ours to read: nothing is ready
        return []


def is_finished(env: Path) -> bool:
    """Tell whether an environment was built to the end and its interpreter still exists."""
    return (env / MARKER).exists() and python_of(env).exists()


def command(python: Path, module: str, *arguments: str) -> list[str]:
    """Return the command line that runs one of our modules with only this checkout and the environment on its path.

    Isolated mode, because the working folder is somebody's project: a `click.py` there must not be imported.
    """
    return [str(python), "-I", "-X", "utf8", str(Path(__file__).with_name("run.py")), module, *arguments]


def become(line: list[str]) -> NoReturn:
    """Replace this process by the program of a command line; on Windows, run it and exit with its status."""
    if sys.platform == "win32":  # exec there returns to the shell before the program has ended
        sys.exit(subprocess.call(line))
    sys.stdout.flush()
    os.execv(line[0], line)  # noqa: S606 - no shell is the point: signals and pipes are the program's own


def detached_flags() -> int:
    """Return the flags that detach a process on Windows: no window, low priority, no Ctrl-C of ours; 0 elsewhere."""
    flags = 0
    if sys.platform == "win32":
        flags = (
            subprocess.CREATE_NEW_PROCESS_GROUP | subprocess.BELOW_NORMAL_PRIORITY_CLASS | subprocess.CREATE_NO_WINDOW
        )
    return flags


def stamp(env: Path) -> None:
    """Note that an environment is in use, so that nobody deletes it as unused."""
    marker, now = env / MARKER, time.time()
    try:
        if now - marker.stat().st_mtime > DAY_S:
            os.utime(marker)  # pruning goes by last use
    except OSError:  # a read-only home has nobody who prunes it
        return
