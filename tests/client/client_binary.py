"""Finds the pinned Claude Code client, fetching it once through npm into a cache outside the repository."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

CLIENT_VERSION = "2.1.330"
FETCH_TIMEOUT_S = 900  # the binary is about 380 MB


class ClientUnavailableError(Exception):
    """The client is neither cached nor to be had through npm; the message says why."""


def client_binary() -> Path:
    """Return the native client of CLIENT_VERSION.

    Raises:
        ClientUnavailableError: npm is missing, cannot reach its registry, or has no build for this platform.
    """
    folder = _cache() / CLIENT_VERSION
    found = _binary_in(folder)
    if found is None:
        _fetch(folder)
        found = _binary_in(folder)
    if found is None:
        message = f"npm brought no native Claude Code {CLIENT_VERSION} for {sys.platform} into {folder}"
        raise ClientUnavailableError(message)
    return found


def _cache() -> Path:
    chosen = os.environ.get("REPERTOIRE_CLIENT_CACHE")
    return Path(chosen) if chosen else Path.home() / ".cache" / "repertoire-client"


def _binary_in(folder: Path) -> Path | None:
    builds = sorted(folder.glob("node_modules/@anthropic-ai/claude-code-*/claude*"))
    return next((build for build in builds if build.stem == "claude" and os.access(build, os.X_OK)), None)


def _fetch(folder: Path) -> None:
    npm = shutil.which("npm")
    if npm is None:
        message = f"npm is not on PATH, and Claude Code {CLIENT_VERSION} is not in {folder}"
        raise ClientUnavailableError(message)
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "package.json").write_text(json.dumps({"name": "repertoire-client", "private": True}))
    # npm runs inside the folder: with --prefix it would drop the machine's own certificate settings
    install = [npm, "install", "--no-audit", "--no-fund", f"@anthropic-ai/claude-code@{CLIENT_VERSION}"]
    try:
        subprocess.run(install, cwd=folder, check=True, capture_output=True, text=True, timeout=FETCH_TIMEOUT_S)
    except subprocess.CalledProcessError as error:
        message = f"npm could not fetch Claude Code {CLIENT_VERSION}: {error.stderr.strip()[-400:]}"
        raise ClientUnavailableError(message) from error
    except subprocess.TimeoutExpired as error:
        message = f"npm did not fetch Claude Code {CLIENT_VERSION} within {FETCH_TIMEOUT_S} s"
        raise ClientUnavailableError(message) from error
