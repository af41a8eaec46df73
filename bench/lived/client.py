"""Stands in for the `claude` program: adds marketplaces, plugins and servers to a person's folder as it does.

It fetches nothing: a marketplace is copied from the clone in the home, and what lies elsewhere is refused.
"""

from __future__ import annotations

import json
import os
import shutil
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

CONFIG = Path.home() / ".claude"
PLUGINS = CONFIG / "plugins"


def main(arguments: Sequence[str]) -> int:
    """Carry out one command of the client."""
    words = [
        word for number, word in enumerate(arguments) if "--scope" not in arguments[max(0, number - 1) : number + 1]
    ]
    match words:
        case ["plugin", "marketplace", "add", address]:
            return _add_marketplace(address)
        case ["plugin", "install", name]:
            return _install(*name.split("@"))
        case ["mcp", "add", *rest]:
            return _add_server(rest)
    return _refused(f"not played: {words}")


def _add_marketplace(address: str) -> int:
    key = address.removeprefix("https://github.com/").removesuffix(".git").replace("/", "_")
    clone = next(Path(os.environ["REPERTOIRE_HOME"], "sources").glob(f"github.com_{key}-*"), None)
    if clone is None:
        return _refused(f"{address} cannot be fetched")
    name = _read(clone / ".claude-plugin" / "marketplace.json")["name"]
    place = PLUGINS / "marketplaces" / name
    shutil.copytree(clone, place, symlinks=True, dirs_exist_ok=True)
    source = {"source": "github", "repo": address.removeprefix("https://github.com/").removesuffix(".git")}
    _put(PLUGINS / "known_marketplaces.json", {name: {"source": source, "installLocation": str(place)}})
    return 0


def _install(plugin: str, marketplace: str) -> int:
    market = PLUGINS / "marketplaces" / marketplace
    listed = _read(market / ".claude-plugin" / "marketplace.json")
    entry = next((one for one in listed.get("plugins", ()) if one["name"] == plugin), None)
    if entry is None or not isinstance(entry["source"], str):
        return _refused(f"{plugin} lies elsewhere")
    folder = market / listed.get("metadata", {}).get("pluginRoot", "") / entry["source"]
    version = str(entry.get("version", "1.0.0"))
    place = PLUGINS / "cache" / marketplace / plugin / version
    shutil.copytree(folder, place, symlinks=True, dirs_exist_ok=True, ignore=shutil.ignore_patterns(".git"))
    records = {**_read(PLUGINS / "installed_plugins.json").get("plugins", {})}
    records[f"{plugin}@{marketplace}"] = [{"scope": "user", "installPath": str(place), "version": version}]
    _put(PLUGINS / "installed_plugins.json", {"version": 2, "plugins": records})
    on = {**_read(CONFIG / "settings.json").get("enabledPlugins", {}), f"{plugin}@{marketplace}": True}
    _put(CONFIG / "settings.json", {"enabledPlugins": on})
    return 0


def _add_server(words: Sequence[str]) -> int:
    own, _, started = " ".join(words).partition(" -- ")
    options = own.split()
    name = options[2] if options[0] == "--transport" else options[0]
    program = started.split()
    server: dict[str, Any] = (
        {"command": program[0], "args": program[1:]} if program else {"type": "http", "url": options[3]}
    )
    file = CONFIG.parent / ".claude.json"
    _put(file, {"mcpServers": {**_read(file).get("mcpServers", {}), name: server}})
    return 0


def _read(file: Path) -> dict[str, Any]:
    return json.loads(file.read_text(encoding="utf-8")) if file.is_file() else {}


def _put(file: Path, values: dict[str, Any]) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(json.dumps({**_read(file), **values}, indent=1), encoding="utf-8")


def _refused(why: str) -> int:
    print(why, file=sys.stderr)
    return 1


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
