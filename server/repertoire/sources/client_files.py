"""Finds and reads the files in which Claude Code keeps settings and its own state.

The session hook runs this with any Python from 3.9.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any

from repertoire.boot.session_folders import local_folder

_CHOSEN = "CLAUDE_CONFIG_DIR"
_SETTINGS, _LOCAL = "settings.json", "settings.local.json"
# where an administrator lays settings for everybody on a machine
_PLACES = {"darwin": "/Library/Application Support/ClaudeCode", "win32": "C:/Program Files/ClaudeCode"}
MANAGED = Path(_PLACES.get(sys.platform, "/etc/claude-code"))
_CAP = 1 << 20  # bytes of the largest file that is read, unless a caller expects a larger one


def config_folder(environment: Mapping[str, str]) -> Path:
    """Return the folder where Claude Code keeps a person's configuration."""
    chosen = chosen_folder(environment)
    return Path(chosen) if chosen else Path.home() / ".claude"


def chosen_folder(environment: Mapping[str, str]) -> str:
    """Return the folder that a person chose in place of `~/.claude`, absolute; empty if none was chosen."""
    chosen = environment.get(_CHOSEN, "").strip()
    return str(Path(chosen).expanduser().absolute()) if chosen else ""


def with_folder(environment: Mapping[str, str], chosen: str) -> dict[str, str]:
    """Return an environment in which Claude Code uses a chosen folder; if that is empty, `~/.claude`."""
    others = {name: value for name, value in environment.items() if name != _CHOSEN}
    return {**others, _CHOSEN: chosen} if chosen else others


def state_file(environment: Mapping[str, str]) -> Path:
    """Return the file in which Claude Code keeps a person's servers and what it knows of each project."""
    return Path(chosen_folder(environment) or Path.home()) / ".claude.json"


def project_settings(project: Path) -> list[Path]:
    """Return the settings files of a session besides a person's own; a later one's values win."""
    own, local = project / ".claude", local_folder(str(project)) / ".claude"
    return list(dict.fromkeys((own / _SETTINGS, local / _LOCAL, own / _LOCAL, *managed_files())))


def settings_files(config: Path, project: Path | None = None) -> list[Path]:
    """Return all settings files of a session, or of a person; a later one's values win."""
    others = managed_files() if project is None else project_settings(project)
    return list(dict.fromkeys((config / _SETTINGS, *others)))


def managed_files() -> list[Path]:
    """Return the settings files of an administrator; a later one's values win."""
    return [MANAGED / "managed-settings.json", *sorted((MANAGED / "managed-settings.d").glob("[!.]*.json"))]


def settings(file: Path) -> Mapping[str, Any]:
    """Return what a settings file holds: it is parsed once, as long as nobody writes it again."""
    try:
        found = file.stat()
    except (OSError, ValueError):  # no name of a file at all: it holds a NUL
        return {}
    return _settings(file, (found.st_mtime_ns, found.st_size))


@lru_cache(maxsize=32)
def _settings(file: Path, _written: tuple[int, int]) -> Mapping[str, Any]:
    return json_object(file)


def is_set(files: Iterable[Path], key: str) -> bool:
    """Tell whether any of these settings files turns a switch on."""
    return any(settings(file).get(key) is True for file in files)


def enabled_plugins(files: Iterable[Path]) -> dict[str, bool]:
    """Return which plugins settings files turn on or off; a later one's values win."""
    listed = (as_object(settings(file).get("enabledPlugins")) for file in files)
    return {name: value is not False for plugins in listed for name, value in plugins.items()}


def json_object(file: Path, most: int = _CAP) -> Mapping[str, Any]:
    """Read a JSON object; empty if the file has none or is larger: Claude Code itself reports errors in its files."""
    try:
        return as_object(json.loads(read(file, most)))
    except (ValueError, RecursionError):
        return {}


def read(file: Path, most: int = _CAP) -> str:
    """Read a text without its byte order mark; empty if there is no such file, or it is larger than `most` bytes."""
    try:
        if not file.is_file():  # a pipe or a terminal would never end
            return ""
        with file.open("rb") as opened:
            content = opened.read(most + 1)
    except (OSError, ValueError):
        return ""
    return content.decode("utf-8-sig", "replace") if len(content) <= most else ""


def as_object(value: Any) -> Mapping[str, Any]:
    """Return a value of JSON if it is an object, else an empty one."""
    return value if isinstance(value, dict) else {}
