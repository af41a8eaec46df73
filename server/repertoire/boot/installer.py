"""Fills one environment's folder with the locked packages, through uv, which pip can fetch, or through venv and pip."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from repertoire.boot import interpreter
from repertoire.boot.errors import InstallError, NoInterpreterError
from repertoire.boot.layout import python_of, uv_lock_file
from repertoire.boot.progress import BuildProgress

LIMIT_S = 1800  # a stalled network must not hold the build's lock for ever
UV_PYTHON = "3.12"  # the version that uv fetches if no Python on this machine fits
FETCHING_PYTHON = f"fetching Python {UV_PYTHON} with uv"
# Every pinned package has wheels where we run; without this flag a platform that lacks one starts a compiler, or
# runs a stranger's setup script. The lock is complete, so nothing is left to resolve.
EXACTLY = ["--require-hashes", "--no-deps", "--only-binary", ":all:"]
PIP_FOR_OTHERS = (22, 3)  # the first release of pip with --python
# What uv says where a package has no wheel for the machine's system or the Python.
LACKING = re.compile(r"Because ([^\n]{1,120}? has no (?:usable )?wheels(?: with a matching \w+ tag \([^)\n]{1,60}\))?)")
QUIETLY = ["--no-input", "--disable-pip-version-check"]
# Settings of pip's that lead to packages by a way which uv would not find; a further index only adds to the usual one.
LEADS_ELSEWHERE = (".index-url=", ".no-index=", ".proxy=", ".client-cert=")
# The client's keys, and python's own settings: neither is an installer's business.
WITHHELD_PREFIXES = ("ANTHROPIC_", "CLAUDE", "PYTHON")
# Variables that would make an installer write elsewhere than into the environment, or take other versions.
WITHHELD = frozenset(
    "VIRTUAL_ENV CONDA_PREFIX PIP_TARGET PIP_PREFIX PIP_ROOT UV_PYTHON UV_SYSTEM_PYTHON UV_PROJECT "
    "UV_CONSTRAINT UV_OVERRIDE UV_EXCLUDE".split()
)
# What pip's own settings may not decide: `user` fails in an environment, `require-virtualenv` where uv is fetched into
# a folder, and `constraint`, which images for machine learning bring, where it wants other versions than the locked.
OVERRULED = {"PIP_USER": "0", "PIP_REQUIRE_VIRTUALENV": "0", "PIP_CONSTRAINT": os.devnull}


@dataclass(frozen=True)
class Job:
    """One attempt to install: the environment's folder, the lock file, the log, and the progress report."""

    env: Path
    lock: Path
    log: Path
    report: BuildProgress


def uv() -> str | None:
    """Return the path of a uv that runs; None if PATH has none."""
    found = shutil.which("uv")
    if found is None:
        return None
    try:
        subprocess.run([found, "--version"], env=environment(), capture_output=True, timeout=15, check=True)
    except (OSError, subprocess.SubprocessError):  # a version manager's shim without a uv behind it
        return None
    return found


def with_uv(tool: str, job: Job, *options: str) -> None:
    """Build the environment with uv, which also fetches a Python if none on this machine fits.

    Raises: InstallError.
    """
    try:
        python = str(interpreter.find(needs_ensurepip=False).path)
    except NoInterpreterError:
        python = UV_PYTHON
    making = "making an environment" if python != UV_PYTHON else FETCHING_PYTHON
    _run([tool, "venv", "--quiet", "--no-project", "--python", python, str(job.env)], making, job)
    target = ["--python", str(python_of(job.env))]
    install = [tool, "pip", "install", *target, *EXACTLY, "--compile-bytecode", "-r", str(job.lock), *options]
    _run(install, "installing packages with uv", job)


def may_fetch_uv() -> bool:
    """Tell whether there is a pip that may fetch a uv which finds packages where pip does."""
    try:
        settings = _ask_pip(_fetcher(), "-m", "pip", "config", "list")
    except (OSError, subprocess.SubprocessError):
        return False
    return not any(name in settings for name in LEADS_ELSEWHERE)


def with_fetched_uv(job: Job) -> None:
    """Build the environment with a uv that pip fetches for it, in a third of the time that pip takes, and discard it.

    Raises: InstallError.
    """
    python = _fetcher()
    place = tempfile.mkdtemp(prefix=f"{job.env.name}-", dir=job.env.parent)
    try:
        fetch = [python, "-I", "-m", "pip", "install", *QUIETLY, *EXACTLY, "--target", place, "-r", str(uv_lock_file())]
        _run(fetch, "fetching uv", job)
        # pip trusts the system's certificates, and those of a company are nowhere else
        with_uv(shutil.which("uv", path=str(Path(place, "bin"))) or "uv", job, "--system-certs")
    finally:
        shutil.rmtree(place, ignore_errors=True)


def _fetcher() -> str:
    """Return a Python that fits; else the running one, whose pip fetches uv all the same, which fetches a Python."""
    try:
        return str(interpreter.find(needs_ensurepip=True).path)
    except NoInterpreterError:  # macOS has Python 3.9 alone, Debian one without ensurepip
        return sys.executable


def with_pip(job: Job) -> None:
    """Build the environment with the standard library's venv, and with the interpreter's pip or else its own.

    Raises: NoInterpreterError, InstallError.
    """
    python = str(interpreter.find(needs_ensurepip=True).path)
    shared = _has_pip_for_others(python)
    venv = [python, "-I", "-m", "venv", *(["--without-pip"] if shared else []), str(job.env)]
    _run(venv, "making an environment", job)
    inside = str(python_of(job.env))
    pip = [python, "-I", "-m", "pip", "--python", inside] if shared else [inside, "-I", "-m", "pip"]
    install = [*pip, "install", *QUIETLY, *EXACTLY, "-r", str(job.lock)]
    _run(install, "installing packages with pip", job)


def environment() -> dict[str, str]:
    """Return this process's environment variables without the client's secrets and those that mislead an installer."""
    kept = {
        name: value
        for name, value in os.environ.items()
        if name not in WITHHELD and not name.startswith(WITHHELD_PREFIXES)
    }
    return {**kept, **OVERRULED}


def _has_pip_for_others(python: str) -> bool:
    """Tell whether an interpreter's own pip installs into other environments.

    A pip of the environment's own would be installed first, which takes five times as long as the environment itself.
    """
    ask = "from importlib.metadata import version; print(version('pip'))"
    try:
        major, minor = _ask_pip(python, "-c", ask).split(".")[:2]
        return (int(major), int(minor)) >= PIP_FOR_OTHERS
    except (OSError, subprocess.SubprocessError, ValueError):  # it has none
        return False


def _ask_pip(python: str, *arguments: str) -> str:
    command = [python, "-I", *arguments]
    told = subprocess.run(command, env=environment(), capture_output=True, timeout=15, check=True)
    return told.stdout.decode("utf-8", "replace")


def _run(command: list[str], phase: str, job: Job) -> None:
    with job.log.open("ab") as log:
        log.write(f"\n{time.strftime('%Y-%m-%dT%H:%M:%S')} {phase}: {' '.join(command)}\n".encode())
        log.flush()
        start = log.tell()
        status = _wait(command, phase, job, log)
    if status != 0:
        told = _told(job.log, start)
        lacking = LACKING.search(told)
        other = f", or install Python {UV_PYTHON}," if phase == FETCHING_PYTHON else ""
        reason = lacking[1] if lacking else _last_words(told) or f"exit status {status}"
        mend = f"Repertoire needs {interpreter.SUPPORTED}" if lacking else f"check the network{other} and try again"
        message = f"{phase} failed ({reason}): {mend}; the log is {job.log}"
        raise InstallError(message)


def _wait(command: list[str], phase: str, job: Job, log: BinaryIO) -> int:
    # The folder above the environments, not the working folder: a project there may have settings for uv.
    where, quiet = job.env.parent, subprocess.DEVNULL
    try:
        process = subprocess.Popen(command, cwd=where, env=environment(), stdin=quiet, stdout=log, stderr=log)
    except OSError as error:
        message = f"{phase} failed ({command[0]}: {error.strerror}); the log is {job.log}"
        raise InstallError(message) from error
    started = time.monotonic()
    try:
        while True:
            seconds = int(time.monotonic() - started)
            job.report(phase, seconds)
            if seconds > LIMIT_S:
                message = f"{phase} did not end in {LIMIT_S // 60} minutes; the log is {job.log}"
                raise InstallError(message)
            try:
                return process.wait(timeout=1)
            except subprocess.TimeoutExpired:
                continue
    finally:
        if process.poll() is None:  # we were interrupted: leave nothing running
            process.kill()
            process.wait()


def _told(log: Path, start: int) -> str:
    with log.open("rb") as file:
        file.seek(start)
        return file.read().decode("utf-8", "replace")


def _last_words(told: str) -> str:
    lines = [line.strip() for line in told.splitlines() if line.strip()]
    errors = [line for line in lines if "error" in line.lower()]
    return (errors or lines or [""])[-1][:200]
