"""Finds the MCP conformance suite and the Inspector, fetched once through npm into a cache outside the repository.

Both need a newer Node than many machines have; where there is none, npm brings one along.
"""

from __future__ import annotations

import hashlib
import json
import re
import shutil
import subprocess
from concurrent.futures import Future
from dataclasses import dataclass
from pathlib import Path

import pytest

import npm

CONFORMANCE = "@modelcontextprotocol/conformance"
INSPECTOR = "@modelcontextprotocol/inspector"
PACKAGES = {CONFORMANCE: "0.2.0-alpha.12", INSPECTOR: "2.12.0"}
NODE, NODE_AT_LEAST = "22.23.3", (22, 19)
FETCH_TIMEOUT_S = 300


@dataclass(frozen=True)
class Kit:
    """The two programs, ready to run."""

    node: str
    folder: Path

    @property
    def conformance(self) -> list[str]:
        """Return what starts the conformance suite."""
        return [self.node, str(self.folder / "node_modules" / CONFORMANCE / "dist" / "index.js")]

    @property
    def inspector(self) -> list[str]:
        """Return what starts the Inspector's command line."""
        return [self.node, str(self.folder / "node_modules" / ".bin" / "mcp-inspector"), "--cli"]


FETCHED = pytest.StashKey[Future[Kit]]()  # the one fetch of a test session


def protocol_kit() -> Kit:
    """Return the programs.

    Raises:
        npm.UnavailableError: npm is missing or cannot reach its registry.
    """
    node = _new_enough(shutil.which("node"))
    wanted = {**PACKAGES, **({} if node else {"node": NODE})}
    key = hashlib.sha256(json.dumps(wanted, sort_keys=True).encode()).hexdigest()[:12]
    folder = npm.cache() / f"protocol-{key}"
    done = folder / npm.DONE
    npm.fetch(folder, wanted, lambda: done if done.exists() else None, "--fetch-retries=1", timeout=FETCH_TIMEOUT_S)
    node = node or _new_enough(str(folder / "node_modules" / "node" / "bin" / "node"))
    if node is None:
        message = f"npm brought no Node {NODE} for this platform into {folder}"
        raise npm.UnavailableError(message)
    return Kit(node, folder)


def _new_enough(node: str | None) -> str | None:
    if node is None or not Path(node).exists():
        return None
    said = subprocess.run([node, "--version"], capture_output=True, text=True, check=False).stdout
    return node if tuple(map(int, re.findall(r"\d+", said)[:2])) >= NODE_AT_LEAST else None
