"""Reads which marketplaces, servers and hooks settings allow, an administrator's above all, and judges components.

Each prompt asks, and the session hook with any Python from 3.9: no file is parsed here that may be large.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

from repertoire.domain.component import AGENT, COMMAND, HOOK, MCP_SERVER, SKILL, Component
from repertoire.domain.invocation import server_name
from repertoire.sources import client_files
from repertoire.sources.client_files import as_object, config_folder, is_set, json_object, settings, settings_files
from repertoire.sources.marketplace_rules import allows, blocks, source_of

Rules = tuple[Mapping[str, Any], ...]

_PLUGIN = re.compile(r"/plugin (?:install|enable) (\S+@\S+)")
_ADD = "/plugin marketplace add "
_OPEN = re.compile(r"\$\{|…")  # begins what the client or a person fills in, so that the rest of a word is not known
_PLACES = {SKILL: "skills", COMMAND: "skills", AGENT: "agents", HOOK: "hooks", MCP_SERVER: "mcp"}
_ADMIN = "an administrator's settings"


@dataclass(frozen=True)
class Policy:
    """What settings allow; a rule that is None allows everything."""

    marketplaces: Rules | None = None
    blocked: Rules = ()
    known: Mapping[str, Any] = field(default_factory=dict)  # sources of marketplaces, by name, as the client added them
    servers: Rules | None = None
    denied: Rules = ()
    fixed: bool = False  # an administrator's own list of servers takes the place of all others
    only_plugins: frozenset[str] = frozenset()  # of which surfaces only what plugins bring is loaded
    managed_hooks: bool = False  # no hooks run but an administrator's and those of plugins that one enables
    plugins: Mapping[str, bool] = field(default_factory=dict)  # which an administrator turns on or off

    def __bool__(self) -> bool:
        """Tell whether anything is forbidden."""
        lists = self.marketplaces is not None or self.servers is not None or bool(self.blocked or self.denied)
        off = False in self.plugins.values()
        return lists or self.fixed or bool(self.only_plugins) or self.managed_hooks or off

    def __call__(self, component: Component) -> str:
        """Return why a component may not be installed or does not run; empty if nothing forbids it."""
        plugin = _plugin_of(component)
        why = self._of_plugin(component, plugin) if plugin else self._by_itself(component)
        if why or component.type not in (HOOK, MCP_SERVER):
            return why
        if component.type == MCP_SERVER:
            return self._server(component, component.plugin if plugin else "")
        silent = self.managed_hooks and not self.plugins.get(plugin)
        return f"{_ADMIN} run no hooks but their own and those of plugins that they enable" if silent else ""

    def _of_plugin(self, component: Component, plugin: str) -> str:
        if self.plugins.get(plugin) is False:
            return f"{_ADMIN} turn off the plugin {plugin}"
        name = plugin.rpartition("@")[2]
        source = self.known.get(name) or source_of(_address(component))
        if not source or (allows(self.marketplaces, source) and not blocks(self.blocked, source)):
            return ""
        return f"{_ADMIN} do not allow the marketplace {name}"

    def _by_itself(self, component: Component) -> str:
        place = _PLACES.get(component.type, "")
        if place not in self.only_plugins:
            return ""
        return f"{_ADMIN} allow no {'MCP servers' if place == 'mcp' else place} but those of plugins"

    def _server(self, component: Component, plugin: str) -> str:
        if self.fixed:
            return f"{_ADMIN} list all MCP servers that run, and no others do"
        name, stated = server_name(component.name, plugin), component.front_matter
        if any(_is_named(rule, name, stated) for rule in self.denied):
            return f"settings deny the MCP server {name}"
        if self.servers is None or _is_allowed(self.servers, name, stated):
            return ""
        return f"the MCP server {name} is not among those that settings allow"


def policy(environment: Mapping[str, str], project: Path) -> Policy:
    """Read what is allowed in a project: by an administrator, and of servers also by a person and the project."""
    config, managed = config_folder(environment), client_files.managed_files()
    files = settings_files(config, project)
    marketplaces = _rules(managed, "strictKnownMarketplaces")
    if marketplaces is None:
        marketplaces = _rules(managed, "allowedMarketplaces")
    blocked = _rules(managed, "blockedMarketplaces") or ()
    limited = marketplaces is not None or bool(blocked)
    return Policy(
        marketplaces,
        blocked,
        _known(config / "plugins" / "known_marketplaces.json") if limited else {},
        _rules(managed if is_set(managed, "allowManagedMcpServersOnly") else files, "allowedMcpServers"),
        _rules(files, "deniedMcpServers") or (),
        os.path.isfile(client_files.MANAGED / "managed-mcp.json"),  # noqa: PTH113 - raises in no closed folder
        _only_plugins(managed),
        is_set(managed, "allowManagedHooksOnly"),
        client_files.enabled_plugins(managed),
    )


def _rules(files: Iterable[Path], key: str) -> Rules | None:
    """Return the rules of all files; None if none has the key, and none of a list that is no list, as in the client."""
    lists = [found for file in files if (found := settings(file).get(key)) is not None]
    rules = (rule for found in lists if isinstance(found, list) for rule in found)
    return tuple(rule for rule in rules if isinstance(rule, dict)) if lists else None


def _only_plugins(files: Iterable[Path]) -> frozenset[str]:
    found = [settings(file).get("strictPluginOnlyCustomization") for file in files]
    if True in found:
        return frozenset(_PLACES.values())
    return frozenset(str(one) for places in found if isinstance(places, list) for one in places)


def _known(file: Path) -> dict[str, Any]:
    return {name: as_object(as_object(one).get("source")) for name, one in json_object(file).items()}


def _plugin_of(component: Component) -> str:
    """Return the plugin that brings a component, as `name@marketplace`; empty if it stands by itself."""
    if component.installed:
        return f"{component.plugin}@{component.marketplace}" if component.plugin else ""
    return next((found[1] for line in component.install if (found := _PLUGIN.match(line))), "")


def _address(component: Component) -> str:
    return next((line[len(_ADD) :] for line in component.install if line.startswith(_ADD)), component.repository)


def _words(stated: Mapping[str, Any]) -> list[str]:
    arguments = stated.get("args")
    listed = arguments if isinstance(arguments, (list, tuple)) else ()
    return [str(word) for word in (stated.get("command"), *listed)] if stated.get("command") else []


def _is_named(rule: Mapping[str, Any], name: str, stated: Mapping[str, Any]) -> bool:
    """Tell whether a rule names a server: by its name, its whole command line or its address."""
    words, url = _words(stated), str(stated.get("url") or "")
    if rule.get("serverName") == name or (words and rule.get("serverCommand") == words):
        return True
    return bool(url) and "serverUrl" in rule and _fits(str(rule["serverUrl"]), url)


def _is_allowed(rules: Rules, name: str, stated: Mapping[str, Any]) -> bool:
    """Tell whether rules allow a server; where one names commands, names allow no other command, nor of addresses."""
    words, url = _words(stated), str(stated.get("url") or "")
    kind = "serverCommand" if words else "serverUrl" if url else ""
    listed = [rule[kind] for rule in rules if kind in rule]
    if not listed:
        return any(rule.get("serverName") == name for rule in rules)
    if url and not words:
        return any(_fits(str(one), _known_part(url)) or _known_part(url) != url for one in listed)
    return any(isinstance(one, list) and _is_same(words, one) for one in listed)


def _is_same(words: list[str], listed: list[Any]) -> bool:
    """Tell whether a command line may be the listed one: of a word that is filled in later, the beginning counts."""
    return len(words) == len(listed) and all(map(_may_be, words, map(str, listed)))


def _may_be(word: str, listed: str) -> bool:
    known = _known_part(word)
    return word == listed or (known != word and listed.startswith(known))


def _known_part(word: str) -> str:
    return _OPEN.split(word, maxsplit=1)[0]


def _fits(pattern: str, url: str) -> bool:
    """Tell whether an address fits a pattern, in which `*` stands for anything."""
    return fnmatchcase(url.lower(), pattern.lower().replace("[", "[[]").replace("?", "[?]"))
