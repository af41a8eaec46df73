"""Reads what settings keep from the model in a project: what is denied to it, and what is turned off.

Each prompt asks, and the session hook with any Python from 3.9: no file is parsed here that may be large.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from repertoire.boot.session_folders import local_folder
from repertoire.domain.component import MCP_SERVER
from repertoire.domain.invocation import is_denied, server_name
from repertoire.sources import client_files
from repertoire.sources.client_files import (
    as_object,
    config_folder,
    enabled_plugins,
    is_set,
    project_settings,
    read,
    settings,
    settings_files,
    state_file,
)

_STATE_CAP = 8 << 20  # bytes; of a larger state nothing is read
_RULES = 2_000
_OFF = "disabledMcpServers"


@dataclass(frozen=True)
class Withheld:
    """The rules by which the model is refused components in a project, and the servers that are turned off in it."""

    rules: tuple[str, ...] = ()
    servers: frozenset[str] = frozenset()  # as Claude Code names them: `plugin:PLUGIN:NAME` if they are a plugin's

    def __bool__(self) -> bool:
        """Tell whether there is any."""
        return bool(self.rules or self.servers)

    def __call__(self, kind: str, call: str, plugin: str) -> bool:
        """Tell whether an installed component, by the name that starts it, is kept from the model."""
        if kind == MCP_SERVER and server_name(call, plugin) in self.servers:
            return True
        return any(is_denied(rule, kind, call, plugin) for rule in self.rules)


def withheld(environment: Mapping[str, str], project: Path) -> Withheld:
    """Read what is kept from the model in a project: by the settings of a person, the project, an administrator.

    An administrator may have the rules of nobody else count.
    """
    managed = client_files.managed_files()
    alone = is_set(managed, "allowManagedPermissionRulesOnly")
    files = managed if alone else settings_files(config_folder(environment), project)
    rules = dict.fromkeys(rule for file in files for rule in _denied(file))
    return Withheld(tuple(rules)[:_RULES], _servers_off(state_file(environment), project))


def switched_off(environment: Mapping[str, str], project: Path) -> frozenset[str]:
    """Return the plugins that a project's or an administrator's settings turn off, as `name@marketplace`."""
    own = config_folder(environment)
    found = enabled_plugins(file for file in project_settings(project) if file.parent != own)
    return frozenset(name for name, enabled in found.items() if not enabled)


def _denied(file: Path) -> list[str]:
    found = as_object(settings(file).get("permissions")).get("deny")
    about = ("Skill", "Agent", "Task", "mcp__")
    return (
        [rule for rule in found if isinstance(rule, str) and rule.startswith(about)] if isinstance(found, list) else []
    )


def _servers_off(state: Path, project: Path) -> frozenset[str]:
    """Return the servers that are off in a project, which for Claude Code is the whole repository."""
    root = local_folder(str(project.resolve()))
    try:
        found = state.stat()
    except OSError:
        return frozenset()
    return _off_in(state, str(root), (found.st_mtime_ns, found.st_size))


@lru_cache(maxsize=8)
def _off_in(state: Path, root: str, _written: tuple[int, int]) -> frozenset[str]:
    """Return the servers that are off by a state file as it was written at some time.

    It holds all projects with their history, many megabytes: only one project's part is parsed.
    """
    text = read(state, _STATE_CAP)
    if f'"{_OFF}"' not in text:
        return frozenset()
    key = json.dumps(root, ensure_ascii=False)
    at = text.find(key, text.find('"projects"'))
    while at >= 0:
        begin = text.find("{", at + len(key))
        if text[at + len(key) : begin].strip() == ":":
            return _off_at(text, begin)
        at = text.find(key, at + 1)
    return frozenset()


def _off_at(text: str, begin: int) -> frozenset[str]:
    try:
        off = as_object(json.JSONDecoder().raw_decode(text, begin)[0]).get(_OFF)
    except (ValueError, RecursionError):
        return frozenset()
    return frozenset(str(name) for name in off) if isinstance(off, list) else frozenset()
