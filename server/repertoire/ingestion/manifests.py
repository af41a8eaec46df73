"""Reads `plugin.json` and `marketplace.json`: the plugins of a source, and the types of files that they declare."""

from __future__ import annotations

import contextlib
import dataclasses
import json
import posixpath
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from repertoire.domain.component import AGENT, COMMAND, HOOK, MCP_SERVER, OPTIONAL_WEIGHT, PLUGIN, SETTING, SKILL
from repertoire.domain.digest import digest_of
from repertoire.ingestion import hooks, servers, started, validation, values
from repertoire.ingestion.addresses import repository_of
from repertoire.ingestion.parts import (
    PLAIN_NAME,
    ComponentRequirement,
    Draft,
    FileOutcome,
    PluginFacts,
    SourceFile,
    SourceLayout,
    folder,
)
from repertoire.ingestion.popularity import STATED
from repertoire.ingestion.values import Unusable

_DECLARING = {
    "agents": AGENT,
    "commands": COMMAND,
    "hooks": HOOK,
    "lspServers": HOOK,
    "mcpServers": MCP_SERVER,
    "monitors": HOOK,
    "outputStyles": SETTING,
    "skills": SKILL,
}
_INSTEAD = ("agents", "commands")  # a manifest that names places of these has Claude Code leave their usual folder out
OWN = ".claude-plugin/plugin.json"
_PLACES = ("skills", "agents", "commands", "hooks", "mcpServers")
_DEPENDENCIES = {"dependencies": 1.0, "optionalDependencies": OPTIONAL_WEIGHT}  # the client installs both
_DETAILS = ("version", "author", "homepage", "category", "displayName", *STATED)


@dataclass(frozen=True)
class ListedPlugin:
    """A plugin as a marketplace lists it."""

    marketplace: str
    manifest: str
    name: str
    local: bool
    root: str  # folder of a local plugin in the source
    repository: str  # repository of a remote plugin
    data: Mapping[str, Any]
    refused: str = ""  # why Claude Code installs no such plugin

    def facts(self) -> PluginFacts:
        """Return the plugin's facts as far as the marketplace has them."""
        found = _facts(self.data, root=self.root, manifest=self.manifest)
        return dataclasses.replace(
            found,
            marketplace=self.marketplace,
            repository=self.repository or found.repository,
            remote=not self.local,
            # at the top of a source, the skills of an entry replace those in the usual folder
            instead=frozenset((SKILL,) if self.local and not self.root and self.data.get("skills") else ()),
        )


def plugin_root(path: str) -> str:
    """Return the folder of the plugin whose manifest lies at a path."""
    above = folder(path)
    return folder(above) if above.rpartition("/")[2] == ".claude-plugin" else above


def read_layout(files: Iterable[SourceFile], *, base: SourceLayout) -> SourceLayout:
    """Read all manifests of a source into its layout; faulty ones are reported later, by their strategies."""
    plugins: dict[str, PluginFacts] = dict(base.plugins)
    entries: list[ListedPlugin] = []
    for file in sorted(files, key=lambda file: (".claude-plugin/" not in file.path, file.path)):
        with contextlib.suppress(Unusable):
            if not file.path.endswith("plugin.json"):
                entries.extend(one for one in marketplace_entries(file.path, file.text) if not one.refused)
                continue
            root = plugin_root(file.path)
            if root not in plugins or not plugins[root].manifest:
                plugins[root] = _with_base(_read_plugin(file), plugins.get(root))
    shared: dict[str, tuple[PluginFacts, ...]] = {}
    for root, listed in _by_root(entry for entry in entries if entry.local).items():
        own, facts = plugins.get(root), [entry.facts() for entry in listed.values()]
        if len(facts) > 1 and all(one.declared for one in facts):
            shared[root] = tuple(dataclasses.replace(one, shares=True) for one in facts)
        named = own.name if own is not None else ""
        plugins[root] = _listed(own, next((one for one in facts if one.name == named), facts[0]))
    everything = (*plugins.values(), *(one for several in shared.values() for one in several))
    declared = {path: kind for facts in everything for path, kind in facts.declared.items()}
    commands = {path: named for facts in everything for path, named in facts.commands.items()}
    return dataclasses.replace(base, plugins=plugins, shared=shared, declared=declared, commands=commands)


def _by_root(entries: Iterable[ListedPlugin]) -> dict[str, dict[str, ListedPlugin]]:
    """Return the entries of each folder by their names; of the same name the last one counts."""
    found: dict[str, dict[str, ListedPlugin]] = {}
    for entry in entries:
        found.setdefault(entry.root, {})[entry.name] = entry
    return found


def _read_plugin(file: SourceFile) -> PluginFacts:
    data = validation.require("plugin", values.parse_json(file.text))
    if not file.path.endswith(OWN) and not _looks_like_plugin(data):
        message = "a plugin.json of something else"
        raise Unusable(message)
    found = _facts(data, root=plugin_root(file.path), manifest=file.path)
    return dataclasses.replace(
        found,
        instead=frozenset(_DECLARING[key] for key in _INSTEAD if key in data),
        taken=all(_is_place(key, data.get(key)) for key in _PLACES),
    )


def _is_place(key: str, listed: Any) -> bool:
    """Tell whether the client accepts a manifest's paths: they begin with `./`, and an agent's is a `.md` file."""
    places = [item for item in (listed if isinstance(listed, list) else [listed]) if isinstance(item, str)]
    return all(item.startswith("./") and (key != "agents" or item.endswith(".md")) for item in places)


def _looks_like_plugin(data: Mapping[str, Any]) -> bool:
    return bool({"skills", "agents", "commands", "hooks", "mcpServers", "keywords", "author"} & set(data))


def fault(text: str) -> str:
    """Return what is wrong with a plugin.json that was refused."""
    try:
        data = validation.require("plugin", values.parse_json(text))
    except Unusable as error:
        return str(error)
    return "names no plugin" if not values.name(data["name"]) else "a plugin.json of something else"


def marketplace_entries(path: str, text: str) -> list[ListedPlugin]:
    """Parse the plugins that a marketplace lists.

    Raises:
        Unusable: the file is not a marketplace.
    """
    try:
        data = json.loads(text)  # a marketplace holds more values than other files may; each entry is bounded below
    except (ValueError, RecursionError):
        data = values.parse_json(text)
    stated = values.mapping(data)
    inner = stated.get("marketplace")
    found = validation.require("marketplace", inner if isinstance(inner, Mapping) else stated)
    return list(_entries(found, path, values.name(stated.get("name")) if _is_taken(stated) else ""))


def _is_taken(stated: Mapping[str, Any]) -> bool:
    """Tell whether the client accepts a marketplace: it needs a name of one word, and an owner's name."""
    name, owner = stated.get("name"), values.mapping(stated.get("owner"))
    return isinstance(name, str) and len(name.split()) == 1 and isinstance(owner.get("name"), str)


def _entries(found: Mapping[str, Any], path: str, marketplace: str) -> Iterator[ListedPlugin]:
    base = plugin_root(path)
    below = values.text(values.mapping(found.get("metadata")).get("pluginRoot"))
    for listed in found["plugins"][:5_000]:
        data = values.plain(listed)
        name = values.name(data["name"])
        source = data.get("source", data.get("path"))
        local = isinstance(source, str) and "://" not in source
        root = inside(_above(source, base, below), source) if local else None
        refused = _refused(data, name, root if local else "") if marketplace else ""
        if not name or (local and root is None and not refused):
            continue
        yield ListedPlugin(
            marketplace=marketplace,
            manifest=path,
            name=name,
            local=local,
            root=root or "",
            repository="" if local else _remote(source),
            data=data,
            refused=refused,
        )


def _refused(data: Mapping[str, Any], name: str, root: str | None) -> str:
    """Return why the client installs no plugin of such an entry; `root` is None if its source leads out."""
    if not PLAIN_NAME.fullmatch(name):
        return "Claude Code finds no plugin whose name has more than letters, digits, `.`, `_` and `-`"
    if not data.get("source"):
        return "Claude Code installs nothing without a `source`"
    return (
        "" if root is not None else "its `source` leads out of the repository; Claude Code takes one below it, as ./x"
    )


def _above(source: str, base: str, below: str) -> str:
    """Return the folder that a plugin's source starts from: Claude Code puts `pluginRoot` before a bare name alone."""
    return base if "/" in source or source.startswith(".") else posixpath.join(base, below)


def _remote(source: Any) -> str:
    if isinstance(source, str):
        return repository_of(source)
    found = values.mapping(source)
    if found.get("repo"):
        return repository_of(f"https://github.com/{values.name(found['repo'])}")
    return repository_of(values.text(found.get("url"))) or values.name(found.get("package"))


def inside(base: str, path: Any) -> str | None:
    """Resolve a manifest's path to a path in the source; None if it leads out of it."""
    if not isinstance(path, str) or path.startswith("/") or "\\" in path:
        return None
    joined = posixpath.normpath(posixpath.join(base, path))
    if joined == ".":
        return ""
    return None if joined == ".." or joined.startswith(("../", "/")) else joined


def _facts(data: Mapping[str, Any], *, root: str, manifest: str) -> PluginFacts:
    licence = data.get("license")
    return PluginFacts(
        root=root,
        name=values.name(data.get("name")),
        manifest=manifest,
        description=values.text(data.get("description"))[:4_000],
        licence=values.name(licence.get("type") if isinstance(licence, Mapping) else licence),
        tags=(
            *values.words(data.get("keywords")),
            *values.words(data.get("tags")),
            *values.words(data.get("category")),
        ),
        repository=repository_of(_url(data.get("repository")) or _url(data.get("homepage"))),
        needs=tuple(need for key in _DEPENDENCIES for need in _dependencies(data.get(key), key)),
        declared=dict(_declared(data, root)),
        commands=dict(_named_commands(values.mapping(data.get("commands")), root)),
        details={key: data[key] for key in _DETAILS if key in data},
        starts_on=on if isinstance(on := data.get("defaultEnabled"), bool) else None,
    )


def _url(value: Any) -> str:
    return values.text(value.get("url") if isinstance(value, Mapping) else value)


def _dependencies(listed: Any, key: str) -> Iterator[ComponentRequirement]:
    items = listed if isinstance(listed, list) else list(values.mapping(listed))
    for item in items[:50]:
        name = values.name(item.get("name") if isinstance(item, Mapping) else item)
        name = name.partition("@")[0] or name
        if name:
            yield ComponentRequirement("plugin", name, _DEPENDENCIES[key], f"plugin.json {key}")


def _declared(data: Mapping[str, Any], root: str) -> Iterator[tuple[str, str]]:
    for key, kind in _DECLARING.items():
        listed = started.stated(data, key)
        if isinstance(listed, Mapping):  # commands by name, each with a source; inline hooks and servers have none
            listed = [values.mapping(item).get("source") for item in listed.values()]
        for item in listed if isinstance(listed, list) else [listed]:
            path = inside(root, item)
            if path:
                yield path, kind


def _named_commands(listed: Mapping[str, Any], root: str) -> Iterator[tuple[str, tuple[str, str]]]:
    """Yield path, name and description of the commands that a manifest lists by name; a path's first name counts."""
    for name, item in reversed(list(listed.items())):
        stated = values.mapping(item)
        if path := inside(root, stated.get("source")):
            yield path, (values.name(name), values.text(stated.get("description")))


def _listed(own: PluginFacts | None, listed: PluginFacts) -> PluginFacts:
    """Merge a plugin's own manifest with its entry in a marketplace; the own manifest wins.

    Claude Code reads no manifest that lies elsewhere than in `.claude-plugin/`.
    """
    if own is None:
        return listed
    if own.manifest and not own.manifest.endswith(OWN):
        own = dataclasses.replace(own, name=listed.name, declared={}, commands={}, instead=listed.instead)
    return dataclasses.replace(
        own,
        marketplace=own.marketplace or listed.marketplace,
        listed_as=listed.name,
        description=own.description or listed.description,
        licence=own.licence or listed.licence,
        tags=tuple(dict.fromkeys((*own.tags, *listed.tags))),
        declared={**listed.declared, **own.declared},
        commands={**listed.commands, **own.commands},
        details={**listed.details, **own.details},
        starts_on=own.starts_on if listed.starts_on is None else listed.starts_on,
    )


def _with_base(own: PluginFacts, base: PluginFacts | None) -> PluginFacts:
    return own if base is None else dataclasses.replace(own, marketplace=base.marketplace, listed_as=base.listed_as)


def inline_drafts(data: Mapping[str, Any], facts: PluginFacts) -> FileOutcome:
    """Return the servers, hooks and monitors that are written in a plugin's manifest or entry itself."""
    found: list[Draft] = []
    warnings: tuple[str, ...] = ()
    if inline := _inline_servers(data):
        listed = servers.outcome(inline, plugin=facts)
        found, warnings = list(listed.drafts), listed.warnings
    if configured := hooks.with_modules(values.mapping(data.get("hooks"))):
        inner = values.mapping(configured.get("hooks")) or configured
        found.append(dataclasses.replace(hooks.draft(facts.name, inner), anchor="hooks"))
    for key in (started.MONITORS, started.LANGUAGE_SERVERS):
        found += started.drafts(facts.name, started.stated(data, key))
    return FileOutcome(tuple(dataclasses.replace(one, plugin=facts.name) for one in found), warnings)


def _inline_servers(data: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the servers in a manifest, which may list them among the paths of files with more."""
    listed = data.get("mcpServers")
    if not isinstance(listed, list):
        return servers.servers_in(data)
    return {name: server for item in listed for name, server in servers.servers_in(item).items()}


def plugin_draft(facts: PluginFacts, *, digest: str) -> Draft:
    """Return the draft of a plugin; its folder is its path, so that the id survives a manifest that moves."""
    author = facts.details.get("author")
    by = values.name(author.get("name") if isinstance(author, Mapping) else author)
    lines = [facts.description, f"By {by}." if by else "", f"Keywords: {', '.join(facts.tags)}." if facts.tags else ""]
    return Draft(
        type=PLUGIN,
        name=facts.name,
        description=facts.about,
        body="\n".join(line for line in lines if line),
        path=facts.manifest if facts.remote else facts.root or ".",
        anchor=facts.name if facts.remote or facts.shares else "",
        # the digest covers the marketplace's description too
        digest=digest_of(f"{digest}\n{facts.description}\n{facts.tags}"),
        front_matter=facts.details,
        tags=facts.tags,
        needs=facts.needs,
        licence=facts.licence,
        repository=facts.repository if facts.remote else "",
        plugin=facts.name,
        marketplace=facts.marketplace,
    )
