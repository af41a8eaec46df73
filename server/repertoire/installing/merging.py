"""Adds hooks, settings and servers to Claude Code's JSON files, and returns a line for each addition."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from copy import deepcopy
from pathlib import Path
from typing import Any

from repertoire.domain.errors import InstallRefused, SourceError

HOOKS, SERVERS = "hooks", "mcpServers"
_ASIDE = (HOOKS, "$schema", "description")
_OF_PLUGINS = "${CLAUDE_PLUGIN_ROOT}"  # a variable that the client sets for a plugin's own hooks only
_RUNS = ("command", "url", "prompt", "tool")


def parsed(content: bytes | None, path: Path) -> dict[str, Any]:
    """Parse the JSON object in a file; empty if there is no file.

    Raises:
        InstallRefused: the file holds something else.
    """
    try:
        value = json.loads((content or b"{}").decode("utf-8-sig") or "{}", object_pairs_hook=_once)
    except _Twice as error:
        message = f"{path} holds the key {error} twice, of which one would be lost; mend it, and try again"
        raise InstallRefused(message) from error
    except (ValueError, RecursionError) as error:
        message = f"{path} is not valid JSON, so nothing is added to it; mend it, and try again"
        raise InstallRefused(message) from error
    if not isinstance(value, dict):
        message = f"{path} holds no JSON object, so nothing is added to it; mend it, and try again"
        raise InstallRefused(message)
    return value


class _Twice(ValueError):
    """A key stands twice in one object."""


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        keys = [key for key, _ in pairs]
        raise _Twice(next(repr(key) for key in keys if keys.count(key) > 1))
    return found


def as_json(value: Mapping[str, Any]) -> bytes:
    """Return a JSON object as bytes, in the form that the client writes.

    Raises:
        InstallRefused: it holds a number or a text that cannot be written.
    """
    try:
        return (json.dumps(value, indent=2, ensure_ascii=False, allow_nan=False) + "\n").encode()
    except ValueError as error:  # a number beyond all others, or half a surrogate pair
        message = f"what is there already cannot be written again ({error}); mend it, and try again"
        raise InstallRefused(message) from error


def with_hooks(settings: Mapping[str, Any], offered: Mapping[str, Any]) -> tuple[dict[str, Any], list[str]]:
    """Add hooks to settings; return the settings, and a line for each new hook: its event and its command.

    Raises:
        SourceError: the hooks are not in the form that the client reads, or run only in a plugin.
    """
    hooks = offered.get(HOOKS, offered)
    if not isinstance(hooks, Mapping) or not hooks or not all(_is_event(*item) for item in hooks.items()):
        message = "its hooks are not in the form that Claude Code reads: they are another client's, or for a person"
        raise SourceError(message)
    if _OF_PLUGINS in json.dumps(hooks):
        message = f"its hooks start files of their plugin ({_OF_PLUGINS}): they work as a part of that alone"
        raise SourceError(message)
    found = deepcopy(dict(settings))
    there = found.setdefault(HOOKS, {})
    if not isinstance(there, dict):
        message = "the hooks of the settings are no JSON object, so none is added; mend them, and try again"
        raise InstallRefused(message)
    added: list[str] = []
    for event, groups in hooks.items():
        mine = there.setdefault(event, [])
        if not isinstance(mine, list):
            message = f"the hooks of {event} in the settings are no list, so none is added; mend them, and try again"
            raise InstallRefused(message)
        for group in groups:
            if group not in mine:
                mine.append(group)
                added += [f"hooks.{event}: {line}" for line in _lines(group)]
    return found, added


def _is_event(name: Any, groups: Any) -> bool:
    return (
        isinstance(name, str)
        and name[:1].isupper()
        and isinstance(groups, list)
        and all(isinstance(group, dict) and _are_actions(group.get("hooks")) for group in groups)
    )


def _are_actions(actions: Any) -> bool:
    return isinstance(actions, list) and all(isinstance(action, dict) and "type" in action for action in actions)


def _lines(group: Mapping[str, Any]) -> Iterator[str]:
    matcher = f" ({group['matcher']})" if group.get("matcher") else ""
    for action in group["hooks"]:
        what = next((str(action[key]) for key in _RUNS if key in action), str(action["type"]))
        listed = action.get("args")
        words = [what, *(map(str, listed) if isinstance(listed, list) else ())]
        yield f"runs{matcher} {' '.join(words)}"


def with_settings(settings: Mapping[str, Any], offered: Mapping[str, Any]) -> tuple[dict[str, Any], list[str]]:
    """Add settings whose keys are not set yet; return the settings, and a line for each new key.

    Raises:
        InstallRefused: a key already has another value.
    """
    found = deepcopy(dict(settings))
    added: list[str] = []
    _add(found, {key: value for key, value in offered.items() if key not in _ASIDE}, "", added)
    return found, added


def _add(into: dict[str, Any], offered: Mapping[str, Any], above: str, added: list[str]) -> None:
    for key, value in offered.items():
        name, there = f"{above}{key}", into.get(key)
        if key not in into:
            into[key] = deepcopy(value)
            added.append(f"{name} = {json.dumps(value, ensure_ascii=False)}")
        elif isinstance(there, dict) and isinstance(value, dict):
            _add(there, value, f"{name}.", added)
        elif isinstance(there, list) and isinstance(value, list):
            fresh = [item for item in value if item not in there]
            there.extend(deepcopy(fresh))
            added += [f"{name} + {json.dumps(item, ensure_ascii=False)}" for item in fresh]
        elif there != value:
            message = f"the settings say otherwise already of {name}: nothing is changed; settle it by hand"
            raise InstallRefused(message)


def with_server(listed: Mapping[str, Any], name: str, server: Mapping[str, Any]) -> tuple[dict[str, Any], list[str]]:
    """Add an MCP server to a list of servers; return the list, and a line with its command or address.

    Raises:
        InstallRefused: the list has another server of this name.
    """
    found = deepcopy(dict(listed))
    there = found.setdefault(SERVERS, {})
    if not isinstance(there, dict) or there.get(name, server) != server:
        message = f"there is another MCP server called {name} already: remove it first (`claude mcp remove {name}`)"
        raise InstallRefused(message)
    if name in there:
        return found, []
    there[name] = deepcopy(dict(server))
    args = server.get("args")
    words = [server.get("command") or server.get("url") or "", *(args if isinstance(args, list) else ())]
    return found, [f"{SERVERS}.{name}: runs {' '.join(map(str, words))}"]
