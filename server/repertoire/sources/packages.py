"""Fetches a package by name with the person's npm or pip and their configuration; nothing of the package is run."""

from __future__ import annotations

import contextlib
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from repertoire.domain.errors import SourceError
from repertoire.domain.text import clean_line
from repertoire.sources.address import NPM
from repertoire.sources.archives import is_archive

_POLL_S = 0.2
_MOST_S = 180.0


def fetch(
    registry: str, name: str, version: str, target: Path, *, max_bytes: int, tick: Callable[[], None] | None = None
) -> Path:
    """Fetch a package's archive into an empty folder, and return its path.

    Raises:
        SourceError: npm or pip is missing, or could not fetch the package.
    """
    if registry == NPM:
        command, environment = _npm(name, version, target)
    else:
        command, environment = _pip(name, version, target)
    _run(command, environment, target, max_bytes, tick)
    found = [path for path in sorted(target.iterdir()) if path.is_file() and is_archive(path)]
    if not found:
        message = f"{Path(command[0]).name} fetched no archive of {name}; download it yourself and ingest the file"
        raise SourceError(message)
    return found[0]


def _npm(name: str, version: str, target: Path) -> tuple[list[str], Mapping[str, str]]:
    npm = shutil.which("npm")
    if npm is None:
        message = f"npm is not installed; install it, or ingest the archive of {name}"
        raise SourceError(message)
    # With a version, npm reads the name as a package's only; without, it could be a folder or a repository.
    wanted = f"{name}@{version or 'latest'}"
    command = [npm, "pack", "--ignore-scripts", "--loglevel", "error", "--pack-destination", str(target), "--", wanted]
    quiet = {"npm_config_ignore_scripts": "true", "npm_config_update_notifier": "false", "npm_config_audit": "false"}
    return command, {**os.environ, **quiet}


def _pip(name: str, version: str, target: Path) -> tuple[list[str], Mapping[str, str]]:
    pip = shutil.which("pip3") or shutil.which("pip")
    start = [pip] if pip else [shutil.which("python3") or sys.executable, "-m", "pip"]
    options = (
        *("download", "--no-deps", "--quiet", "--no-input", "--disable-pip-version-check"),
        # for a source distribution pip would run its build to learn the name
        *("--only-binary", ":all:", "--ignore-requires-python", "--dest", str(target)),
    )
    return [*start, *options, "--", f"{name}=={version}" if version else name], os.environ


def _run(
    command: Sequence[str],
    environment: Mapping[str, str],
    folder: Path,
    max_bytes: int,
    tick: Callable[[], None] | None,
) -> None:
    """Run npm or pip in a folder; stop it when it takes too long, writes too much, or when `tick` raises."""
    tool = Path(command[0]).stem
    with tempfile.TemporaryFile() as errors:
        try:
            process = subprocess.Popen(
                command, cwd=folder, env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=errors
            )
        except OSError as error:
            message = f"{tool} cannot be started ({error.strerror}); download the package and ingest the file"
            raise SourceError(message) from None
        started = time.monotonic()
        try:
            while process.poll() is None:
                with contextlib.suppress(subprocess.TimeoutExpired):
                    process.wait(_POLL_S)
                if tick is not None:
                    tick()
                _check(tool, folder, max_bytes, time.monotonic() - started)
        finally:
            if process.poll() is None:
                process.kill()
                process.wait()
        if process.returncode:
            errors.seek(0)
            raise SourceError(_failure(tool, errors.read(100_000)))


def _check(tool: str, folder: Path, max_bytes: int, seconds: float) -> None:
    if seconds > _MOST_S:
        message = f"{tool} took longer than {_MOST_S:.0f} s; download the package yourself and ingest the file"
        raise SourceError(message)
    if sum(path.stat().st_size for path in folder.glob("*") if path.is_file()) > max_bytes:
        message = f"the package is larger than {max_bytes // 1_000_000} MB; raise REPERTOIRE_MAX_SOURCE_MB"
        raise SourceError(message)


def _failure(tool: str, errors: bytes) -> str:
    lines = [line.strip() for line in errors.decode("utf-8", "replace").splitlines()]
    relevant = [line for line in lines if line.lower().startswith(("error", "npm error", "npm err!"))] or lines
    advice = "; where there is no wheel, download its source archive and ingest the file" if tool != NPM else ""
    return f"{tool} could not fetch the package: {clean_line(' '.join(relevant), 300) or 'no reason given'}{advice}"
