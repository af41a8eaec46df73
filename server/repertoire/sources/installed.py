"""Finds Claude Code's components on this machine: a person's, a project's, plugins, and clones of marketplaces."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from repertoire.boot.session_folders import local_folder, session_folders
from repertoire.domain.component import SourceInfo
from repertoire.sources.address import key_of
from repertoire.sources.client_files import (
    as_object,
    config_folder,
    enabled_plugins,
    json_object,
    settings,
    settings_files,
    state_file,
)
from repertoire.sources.crawl import READ_CAP, Mount, children, exists, is_file, is_folder, linked_mounts

_FOLDERS = ("agents", "commands", "output-styles", "skills")
_OWN_SCOPES = ("user", "managed", "")  # scopes of plugins that are in use in every project


@dataclass(frozen=True)
class InstalledSource:
    """A source on this machine, with what Claude Code records about it beside its files."""

    key: str
    kind: str  # user | project | plugin | marketplace
    location: Path
    mounts: tuple[Mount, ...]
    documents: Mapping[str, str] = field(
        default_factory=dict
    )  # path -> text that was cut out of a file whose other content is private
    plugin: str = ""
    marketplace: str = ""
    marketplace_address: str = ""
    repository: str = ""
    installed: bool = False
    overrides: Mapping[str, str] = field(default_factory=dict)  # of settings: a skill's or command's name -> `off` etc.


@dataclass(frozen=True)
class Installation:
    """A plugin that Claude Code installed, and the folder in its marketplace's clone that it was copied from."""

    name: str  # `plugin@marketplace`
    location: Path
    commit: str = ""  # the marketplace's commit, if it was recorded
    market: Path | None = None  # its marketplace's clone; None if it is not on this machine
    origin: Path | None = None  # its folder in the clone; None if the marketplace lists it no more
    elsewhere: bool = False  # the marketplace only links to another repository


@dataclass(frozen=True)
class Machine:
    """All sources, marketplaces and plugins of Claude Code on this machine; plugins are named `name@marketplace`."""

    places: tuple[InstalledSource, ...] = ()
    known_marketplaces: frozenset[str] = frozenset()
    installed_plugins: frozenset[str] = frozenset()
    disabled_plugins: frozenset[str] = frozenset()
    described: Mapping[str, str] = field(default_factory=dict)  # plugin -> key of the source that describes it
    vanished: frozenset[str] = frozenset()  # keys of marketplaces and plugins that are listed but whose folder is gone

    def installed_from(self, repository: str) -> frozenset[str]:
        """Return the installed plugins, but those of marketplaces that came from another repository than this one.

        A source may call its marketplace and plugins as others are called; nothing of it is installed by that.
        """
        others = {
            place.marketplace
            for place in self.places
            if not place.plugin and place.repository and place.repository.lower() != repository.lower()
        }
        return frozenset(name for name in self.installed_plugins if name.rpartition("@")[2] not in others)


def look(environment: Mapping[str, str], *, project: Path | None) -> Machine:
    """Find everything that Claude Code has on this machine and in a project; empty if it was never used."""
    config = config_folder(environment)
    state = _json(state_file(environment))
    plugins = config / "plugins"
    marketplaces = dict(_marketplaces(plugins))
    enabled = enabled_plugins(settings_files(config))
    installed: set[str] = set()
    disabled: set[str] = set()
    own: list[InstalledSource] = []
    for name, record in _installations(plugins):
        if enabled.get(name) is False:
            disabled.add(name)
        elif str(record.get("scope") or "") in _OWN_SCOPES:
            installed.add(name)
        place = _plugin(name, record, marketplaces)
        if place is not None:
            own.append(place)
    places = [_user(config, state), *own, *marketplaces.values()]
    if project is not None:
        root = project.resolve()
        places += [_project(folder, config, state) for folder in session_folders(str(root))]
        places += _project_plugins(plugins, root, config)
    return Machine(
        tuple(place for place in places if place.mounts or place.documents),
        frozenset(marketplaces),
        frozenset(installed),
        frozenset(disabled),
        {f"{place.plugin}@{place.marketplace}": place.key for place in own},
        frozenset(_vanished(plugins)),
    )


def find_in_project(environment: Mapping[str, str], info: SourceInfo) -> InstalledSource | None:
    """Return what a project's source stands for, as it is in the project's folder now; None where nothing is left."""
    places = look(environment, project=Path(info.location)).places
    return next((place for place in places if place.key == info.key), None)


def _vanished(plugins: Path) -> Iterator[str]:
    """Yield the keys of plugins and marketplaces that Claude Code lists but whose folder was moved or deleted."""
    for name, record in _json(plugins / "known_marketplaces.json").items():
        location = Path(str(as_object(record).get("installLocation") or plugins / "marketplaces" / name))
        if not exists(location):
            yield _marketplace(name, location, as_object(as_object(record).get("source"))).key
            yield f"marketplace:{name}"  # its key if it was a single file
    for name, record in _installations(plugins):
        if not is_folder(Path(str(record.get("installPath") or "/nowhere"))):
            yield f"plugin:{name}"


def installations(environment: Mapping[str, str]) -> tuple[Installation, ...]:
    """Return all installed plugins, each with its folder in its marketplace's clone."""
    plugins = config_folder(environment) / "plugins"
    marketplaces = dict(_marketplaces(plugins))
    return tuple(_installation(name, record, marketplaces) for name, record in _installations(plugins))


def _installation(name: str, record: Mapping[str, Any], marketplaces: Mapping[str, InstalledSource]) -> Installation:
    plugin, _, marketplace = name.rpartition("@")
    location = Path(str(record.get("installPath") or "/nowhere"))
    commit = str(record.get("gitCommitSha") or "")
    market = marketplaces.get(marketplace)
    if market is None:
        return Installation(name, location, commit)
    stated = _json(market.location / ".claude-plugin" / "marketplace.json")
    entry = _entry(stated, plugin)
    if entry is None:
        # a marketplace that is a single file behind an address holds no plugin itself
        return Installation(name, location, commit, market.location, elsewhere=is_file(market.location))
    source = entry.get("source")
    if not isinstance(source, str):
        return Installation(name, location, commit, market.location, elsewhere=True)
    base = str(as_object(stated.get("metadata")).get("pluginRoot") or "")
    for origin in (market.location / source, market.location / base / source):
        if is_folder(origin) and origin.resolve().is_relative_to(market.location.resolve()):
            return Installation(name, location, commit, market.location, origin)
    return Installation(name, location, commit, market.location, market.location / ".gone")


def _json(path: Path) -> Mapping[str, Any]:
    return json_object(path, 50 * READ_CAP)  # a state or a marketplace may be large


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def _project_plugins(plugins: Path, root: Path, config: Path) -> Iterator[InstalledSource]:
    """Yield what is in use in one project alone, a source for each plugin: other projects do not load it.

    It is installed for the project, or turned off by the person and turned on by the project, whose settings win. What
    is installed with local settings counts in all folders and worktrees of its repository.
    """
    own, enabled = enabled_plugins(settings_files(config)), enabled_plugins(settings_files(config, root))
    for name, records in _records(plugins):
        wide = [record for record in records if str(record.get("scope") or "") in _OWN_SCOPES]
        here = [*(record for record in records if _is_of(record, root)), *wide]
        location = Path(str(here[0].get("installPath") or "/nowhere")) if here else Path("/nowhere")
        everywhere = bool(wide) and own.get(name, True)
        if enabled.get(name, True) and not everywhere and is_folder(location):
            plugin, _, marketplace = name.rpartition("@")
            yield InstalledSource(
                f"project:{root}/.claude/plugins/{name}",
                "project",
                root,
                (Mount(location.resolve()),),
                plugin=plugin,
                marketplace=marketplace,
                installed=True,
            )


def _is_of(record: Mapping[str, Any], root: Path) -> bool:
    """Tell whether a plugin was installed for a project alone, or for its repository alone."""
    path, scope = str(record.get("projectPath") or "/nowhere"), record.get("scope")
    if scope == "project":
        return path == str(root)
    return scope == "local" and local_folder(path) == local_folder(str(root))


def _user(config: Path, state: Mapping[str, Any]) -> InstalledSource:
    at_home = config == Path.home() / ".claude"
    files = settings_files(config)
    documents = {**_hook_documents(files[:1], ""), **_server_document(state.get("mcpServers"), ".claude.json")}
    key = "user:~/.claude" if at_home else f"user:{config.resolve()}"
    mounts, overrides = tuple(_own_mounts(config, "")), _overrides(files)
    return InstalledSource(key, "user", config, mounts, documents, installed=True, overrides=overrides)


def _project(root: Path, config: Path, state: Mapping[str, Any]) -> InstalledSource:
    folder, local = root / ".claude", local_folder(str(root))
    listed = as_object(as_object(state.get("projects")).get(str(local)))
    files = settings_files(config, root)
    of_settings = (settings(file).get("disabledMcpjsonServers") for file in files)
    off = {str(name) for names in (listed.get("disabledMcpServers"), *of_settings) for name in _list(names)}
    own = listed.get("mcpServers") if root in (local, session_folders(str(root))[-1]) else None
    documents = _server_document(_without(own, off), ".claude.json")
    mounts: list[Mount] = []
    # in the home folder, .claude is the person's own; resolve() would raise where it is a link to itself
    if os.path.realpath(folder) != os.path.realpath(config):
        mounts.extend(_own_mounts(folder, ".claude"))
        documents.update(_hook_documents((file for file in files if file.parent == folder), ".claude/"))
    documents.update(_server_document(_without(_json(root / ".mcp.json").get("mcpServers"), off), ".mcp.json"))
    return InstalledSource(
        f"project:{root}",
        "project",
        root,
        tuple(mounts),
        documents,
        installed=True,
        overrides=_overrides(files),
    )


def _overrides(files: Iterable[Path]) -> dict[str, str]:
    """Return the `skillOverrides` of settings files; a later one's win."""
    listed = (as_object(settings(file).get("skillOverrides")) for file in files)
    return {name: str(value) for overrides in listed for name, value in overrides.items()}


def _own_mounts(folder: Path, prefix: str) -> Iterator[Mount]:
    """Yield the folders of a person's own components, and the components that are linked into them from elsewhere."""
    for name in _FOLDERS:
        place = folder / name
        if is_folder(place):
            shown = f"{prefix}/{name}" if prefix else name
            yield Mount(place.resolve(), shown)
            for linked in linked_mounts(folder, (name,)):
                yield Mount(linked.root, f"{prefix}/{linked.prefix}" if prefix else linked.prefix)


def _hook_documents(files: Iterable[Path], prefix: str) -> dict[str, str]:
    """Return only the hooks of settings files: the rest is private, with keys and tokens among it."""
    found = {f"{prefix}{file.name}": as_object(settings(file).get("hooks")) for file in files}
    return {path: json.dumps({"hooks": hooks}, sort_keys=True) for path, hooks in found.items() if hooks}


def _without(servers: Any, off: AbstractSet[str]) -> dict[str, Any]:
    """Return the servers of a project but those that a person turned off in it."""
    return {name: server for name, server in as_object(servers).items() if name not in off}


def _server_document(servers: Any, path: str) -> dict[str, str]:
    return {path: json.dumps({"mcpServers": servers}, sort_keys=True)} if isinstance(servers, dict) and servers else {}


def _marketplaces(plugins: Path) -> Iterator[tuple[str, InstalledSource]]:
    known = _json(plugins / "known_marketplaces.json")
    seen: set[Path] = set()
    for name, record in sorted(known.items()):
        location = Path(str(as_object(record).get("installLocation") or plugins / "marketplaces" / name))
        seen.add(location.resolve())
        if exists(location):
            yield name, _marketplace(name, location, as_object(as_object(record).get("source")))
    folder = plugins / "marketplaces"
    for child in children(folder):
        if is_folder(child / ".claude-plugin") and child.resolve() not in seen:
            yield child.name, _marketplace(child.name, child, {})


def _marketplace(name: str, location: Path, source: Mapping[str, Any]) -> InstalledSource:
    address = str(source.get("repo") or source.get("url") or source.get("path") or "")
    repository = ""
    if source.get("source") == "github":
        repository = key_of(f"https://github.com/{address}")
    elif source.get("source") == "git":
        repository = key_of(address)
    if is_file(location):  # a marketplace that is one file behind an address
        mount, key = Mount(location.resolve(), ".claude-plugin/marketplace.json"), f"marketplace:{name}"
    else:
        mount, key = Mount(location.resolve()), repository or f"folder:{location.resolve()}"
    return InstalledSource(
        key,
        "marketplace",
        location.resolve(),
        (mount,),
        marketplace=name,
        marketplace_address=address,
        repository=repository,
    )


def _installations(plugins: Path) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Yield each installed plugin once, with its installation of the widest scope."""
    for name, records in _records(plugins):
        yield name, min(records, key=lambda record: str(record.get("scope") or "") not in _OWN_SCOPES)


def _records(plugins: Path) -> Iterator[tuple[str, Sequence[Mapping[str, Any]]]]:
    """Yield each installed plugin with all its installations, of which there is one for each scope and project."""
    listed = as_object(_json(plugins / "installed_plugins.json").get("plugins"))
    for name, value in sorted(listed.items()):
        records = [as_object(item) for item in (value if isinstance(value, list) else [value])]
        if records and "@" in name:
            yield name, records


def _plugin(
    name: str, record: Mapping[str, Any], marketplaces: Mapping[str, InstalledSource]
) -> InstalledSource | None:
    """Return the source of an installed plugin; None if its marketplace's clone holds the plugin already."""
    plugin, _, marketplace = name.rpartition("@")
    location = Path(str(record.get("installPath") or ""))
    market = marketplaces.get(marketplace)
    if not location.is_absolute() or not is_folder(location):
        return None
    if market is not None and _holds(market.location, plugin):
        return None
    return InstalledSource(
        f"plugin:{name}",
        "plugin",
        location,
        (Mount(location.resolve()),),
        plugin=plugin,
        marketplace=marketplace,
        installed=str(record.get("scope") or "") in _OWN_SCOPES,
    )


def _holds(market: Path, plugin: str) -> bool:
    entry = _entry(_json(market / ".claude-plugin" / "marketplace.json"), plugin)
    return entry is not None and isinstance(entry.get("source"), str)


def _entry(stated: Mapping[str, Any], plugin: str) -> Mapping[str, Any] | None:
    listed = stated.get("plugins")
    for entry in _list(listed):
        if as_object(entry).get("name") == plugin:
            return as_object(entry)
    return None
