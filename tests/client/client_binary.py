"""Finds the pinned Claude Code client, fetching it once through npm into a cache outside the repository."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import npm

CLIENT_VERSION = "2.1.332"
FETCH_TIMEOUT_S = 900  # the binary is about 380 MB


def client_binary() -> Path:
    """Return the native client of CLIENT_VERSION.

    Raises:
        npm.UnavailableError: npm is missing, cannot reach its registry, or has no build for this platform.
    """
    folder = npm.cache() / CLIENT_VERSION
    wanted = {"@anthropic-ai/claude-code": CLIENT_VERSION}
    found = npm.fetch(folder, wanted, lambda: _binary_in(folder), timeout=FETCH_TIMEOUT_S)
    if found is None:
        message = f"npm brought no native Claude Code {CLIENT_VERSION} for {sys.platform} into {folder}"
        raise npm.UnavailableError(message)
    return found


def _binary_in(folder: Path) -> Path | None:
    builds = sorted(folder.glob("node_modules/@anthropic-ai/claude-code-*/claude*"))
    return next((build for build in builds if build.stem == "claude" and os.access(build, os.X_OK)), None)
