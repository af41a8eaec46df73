"""Looks up in the client's state files what its commands made there: marketplaces, plugins, servers."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from repertoire.installing.journal import digest
from repertoire.installing.places import InstallPaths


def plugins_of(marketplace: str, places: InstallPaths) -> list[str]:
    """Return the installed plugins of a marketplace."""
    listed = _object(_object(_parsed(places.installed_plugins)).get("plugins"))
    return sorted(name for name in listed if name.endswith(f"@{marketplace}"))


def server_digest(undo: Sequence[str], places: InstallPaths) -> str:
    """Return a digest of the server that a command would remove, as it is listed now; empty if none is found."""
    match undo:
        case ["mcp", "remove", "--scope", scope, name]:
            server = _object(_object(_parsed(places.servers(scope))).get("mcpServers")).get(name)
            return "" if server is None else digest(json.dumps(server, sort_keys=True).encode())
    return ""


def _parsed(path: Path) -> Any:
    """Return what a state file holds; None if it cannot be read, and an empty object if there is no file."""
    try:
        return json.loads(path.read_text(encoding="utf-8-sig"))
    except (FileNotFoundError, NotADirectoryError):
        return {}
    except (OSError, ValueError, RecursionError):
        return None


def _object(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}
