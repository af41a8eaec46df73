"""Looks up in the client's state files what its commands made there: marketplaces, plugins, servers."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from repertoire.installing.journal import digest
from repertoire.installing.places import InstallPaths

PRUNING = ("--prune", "--yes")  # has `plugin uninstall` remove what the client installed because the plugin needs it


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


def is_gone(undo: Sequence[str], places: InstallPaths) -> bool:
    """Tell whether nothing is left of what a command would take back; false if its state file cannot be read."""
    match undo:
        case ["plugin", "marketplace", "remove", name]:
            known = _parsed(places.known_marketplaces)
            return isinstance(known, dict) and name not in known
        case ["plugin", "uninstall", *options, plugin]:
            return _is_without(plugin, "project" if "project" in options else "user", places)
        case ["plugin", "disable", *scope, plugin]:
            settings = _object(_parsed(places.settings("project" if scope else "user")))
            return _object(settings.get("enabledPlugins")).get(plugin) is False
        case ["mcp", "remove", "--scope", scope, name]:
            listed = _parsed(places.servers(scope))
            return isinstance(listed, dict) and name not in _object(listed.get("mcpServers"))
    return False


def _is_without(plugin: str, scope: str, places: InstallPaths) -> bool:
    """Tell whether a plugin is not installed in a scope: there is one record for each scope and project."""
    listed = _parsed(places.installed_plugins)
    records = _object(_object(listed).get("plugins")).get(plugin, [])
    mine = [_object(record) for record in (records if isinstance(records, list) else [records])]
    if scope == "project":
        mine = [record for record in mine if record.get("projectPath") == str(places.project.resolve())]
    return isinstance(listed, dict) and scope not in [record.get("scope", "user") for record in mine]


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
