"""Finds the MCP conformance suite and the Inspector, fetched once through npm into a cache outside the repository.

Both need a newer Node than many machines have; where there is none, npm brings one along.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
import subprocess
from concurrent.futures import Future
from dataclasses import dataclass
from pathlib import Path

import pytest

CONFORMANCE = "@modelcontextprotocol/conformance"
INSPECTOR = "@modelcontextprotocol/inspector"
PACKAGES = {CONFORMANCE: "0.2.0-alpha.12", INSPECTOR: "2.12.0"}
NODE, NODE_AT_LEAST = "22.23.3", (22, 19)
FETCH_TIMEOUT_S = 300


class KitUnavailableError(Exception):
    """The programs are neither cached nor to be had through npm; the message says why."""


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
        KitUnavailableError: npm is missing or cannot reach its registry.
    """
    node = _new_enough(shutil.which("node"))
    wanted = {**PACKAGES, **({} if node else {"node": NODE})}
    key = hashlib.sha256(json.dumps(wanted, sort_keys=True).encode()).hexdigest()[:12]
    folder = _cache() / f"protocol-{key}"
    if not (folder / "done").exists():
        _fetch(folder, wanted)
    node = node or _new_enough(str(folder / "node_modules" / "node" / "bin" / "node"))
    if node is None:
        message = f"npm brought no Node {NODE} for this platform into {folder}"
        raise KitUnavailableError(message)
    return Kit(node, folder)


def _cache() -> Path:
    chosen = os.environ.get("REPERTOIRE_CLIENT_CACHE")
    return Path(chosen) if chosen else Path.home() / ".cache" / "repertoire-client"


def _new_enough(node: str | None) -> str | None:
    if node is None or not Path(node).exists():
        return None
    said = subprocess.run([node, "--version"], capture_output=True, text=True, check=False).stdout
    return node if tuple(map(int, re.findall(r"\d+", said)[:2])) >= NODE_AT_LEAST else None


def _fetch(folder: Path, wanted: dict[str, str]) -> None:
    npm = shutil.which("npm")
    if npm is None:
        message = f"npm is not on PATH, and {', '.join(wanted)} are not in {folder}"
        raise KitUnavailableError(message)
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "package.json").write_text(json.dumps({"name": "repertoire-protocol", "private": True}))
    # npm runs inside the folder: with --prefix it would drop the machine's own certificate settings
    install = [npm, "install", "--no-audit", "--no-fund", "--fetch-retries=1"]
    install += [f"{name}@{version}" for name, version in wanted.items()]
    try:
        subprocess.run(install, cwd=folder, check=True, capture_output=True, text=True, timeout=FETCH_TIMEOUT_S)
    except subprocess.CalledProcessError as error:
        message = f"npm could not fetch {', '.join(wanted)}: {error.stderr.strip()[-400:]}"
        raise KitUnavailableError(message) from error
    except subprocess.TimeoutExpired as error:
        message = f"npm did not fetch {', '.join(wanted)} within {FETCH_TIMEOUT_S} s"
        raise KitUnavailableError(message) from error
    (folder / "done").touch()
