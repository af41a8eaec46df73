"""Reads what a plugin has the client start beside hooks and MCP servers, monitors and language servers, as hooks."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping
from typing import Any

from repertoire.domain.text import clean_line
from repertoire.ingestion import hooks, values
from repertoire.ingestion.parts import Draft

MONITORS, LANGUAGE_SERVERS = "monitors", "lspServers"  # keys of a manifest
FILES = ("monitors/monitors.json", ".lsp.json")  # in a plugin's folder, read where no manifest says otherwise
_MOST = 100
_ALWAYS = "always"
_WHOLE = ("Install the plugin that this is a part of: Claude Code reads it nowhere else",)


def stated(manifest: Mapping[str, Any], key: str) -> Any:
    """Return what a manifest says under a key; monitors may stand among what it calls experimental."""
    tried = values.mapping(manifest.get("experimental"))
    return tried[key] if key == MONITORS and key in tried else manifest.get(key)


def drafts(name: str, written: Any) -> Iterator[Draft]:
    """Yield the drafts of what is written in a manifest or a file: a list of monitors, or language servers by name."""
    listed = written if isinstance(written, list) else [written]
    monitors = [one for item in listed[:_MOST] if "name" in (one := values.mapping(item)) and _runs(one)]
    servers = [
        one
        for item in listed[:_MOST]
        for one in map(values.mapping, values.mapping(item).values())
        if "extensionToLanguage" in one and _runs(one)
    ]
    if monitors:
        yield _draft(name, MONITORS, "Runs in the background of every session", map(_of_monitor, monitors))
    if servers:
        yield _draft(name, LANGUAGE_SERVERS, "Language server for code", map(_of_server, servers))


def _runs(entry: Mapping[str, Any]) -> bool:
    return isinstance(entry.get("command"), str)


def _of_monitor(entry: Mapping[str, Any]) -> tuple[str, str, dict[str, Any]]:
    when = values.name(entry.get("when"))
    action = {"type": "command", "command": entry["command"], "description": values.text(entry.get("description"))}
    return "Monitor", "" if when == _ALWAYS else when, action


def _of_server(entry: Mapping[str, Any]) -> tuple[str, str, dict[str, Any]]:
    suffixes = ", ".join(list(values.mapping(entry["extensionToLanguage"]))[:10])
    return "LanguageServer", suffixes, {"type": "command", "command": entry["command"], "args": entry.get("args")}


def _draft(name: str, anchor: str, told: str, actions: Iterator[tuple[str, str, dict[str, Any]]]) -> Draft:
    events: dict[str, list[dict[str, Any]]] = {}
    for event, matcher, action in actions:
        events.setdefault(event, []).append({"matcher": matcher, "hooks": [action]})
    found = hooks.draft(name, events)
    first = clean_line(found.body.partition("\n")[0].partition(": ")[2], 120)
    return dataclasses.replace(found, description=f"{told}: {first}", anchor=anchor, install=_WHOLE)
