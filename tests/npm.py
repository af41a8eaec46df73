"""Programs that tests run, fetched once through npm into a cache outside the repository."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from collections.abc import Callable, Mapping
from pathlib import Path

from repertoire.boot.filelock import only_one

DONE = "done"  # a file that is there once npm has come to its end


class UnavailableError(Exception):
    """The programs are neither cached nor to be had through npm; the message says why."""


def cache() -> Path:
    """Return the folder in which what was fetched stays."""
    chosen = os.environ.get("REPERTOIRE_CLIENT_CACHE")
    return Path(chosen) if chosen else Path.home() / ".cache" / "repertoire-client"


def fetch(
    folder: Path, wanted: Mapping[str, str], find: Callable[[], Path | None], *options: str, timeout: float
) -> Path | None:
    """Return what `find` finds in a folder, after installing packages there if it finds nothing.

    `wanted` maps names to versions, `timeout` is in seconds. Workers of a test run ask at the same moment: one
    installs, and the others wait, since two npm in one folder read each other's half-written files.

    Raises:
        UnavailableError: npm is missing, cannot reach its registry, or took too long.
    """
    if (found := find()) is not None:
        return found
    folder.parent.mkdir(parents=True, exist_ok=True)
    with only_one(folder.with_name(f"{folder.name}.lock"), waiting=lambda _: None):
        if find() is None:
            _install(folder, wanted, *options, timeout=timeout)
            (folder / DONE).touch()
    return find()


def _install(folder: Path, wanted: Mapping[str, str], *options: str, timeout: float) -> None:
    what = ", ".join(f"{name} {version}" for name, version in wanted.items())
    npm = shutil.which("npm")
    if npm is None:
        message = f"npm is not on PATH, and {what} not in {folder}"
        raise UnavailableError(message)
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "package.json").write_text(json.dumps({"name": "repertoire-tests", "private": True}))
    # npm runs inside the folder: with --prefix it would drop the machine's own certificate settings
    install = [npm, "install", "--no-audit", "--no-fund", *options]
    install += [f"{name}@{version}" for name, version in wanted.items()]
    try:
        subprocess.run(install, cwd=folder, check=True, capture_output=True, text=True, timeout=timeout)
    except subprocess.CalledProcessError as error:
        message = f"npm could not fetch {what}: {error.stderr.strip()[-400:]}"
        raise UnavailableError(message) from error
    except subprocess.TimeoutExpired as error:
        message = f"npm did not fetch {what} within {timeout:g} s"
        raise UnavailableError(message) from error
