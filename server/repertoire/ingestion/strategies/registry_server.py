"""Reads MCP servers as the MCP registry writes them: one `server.json`, or a list of such entries."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Iterator, Mapping
from typing import Any

from repertoire.domain.component import MCP_SERVER
from repertoire.domain.digest import digest_of
from repertoire.ingestion import servers, values
from repertoire.ingestion.addresses import repository_of
from repertoire.ingestion.parts import Draft, FileOutcome, SourceFile, SourceLayout, Strategy
from repertoire.ingestion.values import Unusable

_RUNNERS = {"npm": "npx", "pypi": "uvx", "nuget": "dnx", "oci": "docker", "docker": "docker"}
_BEFORE = {"npx": ["-y"], "docker": ["run", "-i", "--rm"]}
_VARIABLE = re.compile(r"\{([A-Za-z_]\w{0,79})\}")
_KEPT = ("version", "status", "websiteUrl")


def _claims(path: str, layout: SourceLayout) -> bool:
    return path.rpartition("/")[2] in ("server.json", "servers.json", "registry.json") and not layout.in_skill(path)


def _extract(file: SourceFile, _: SourceLayout) -> FileOutcome:
    data = values.mapping(values.parse_json(file.text))
    listed = data.get("servers")
    if isinstance(listed, list):
        entries = [values.mapping(item) for item in listed]
        entries = [values.mapping(item.get("server")) or item for item in entries]
        found = [entry for entry in entries if _is_server(entry)]
        drafts = [dataclasses.replace(_draft(entry), anchor=values.name(entry["name"])) for entry in found]
    else:
        drafts = [_draft(data)] if _is_server(data) else []
    if not drafts:
        if "modelcontextprotocol" in values.text(data.get("$schema")):
            message = "an entry of the MCP registry without a name or a description"
            raise Unusable(message)
        return FileOutcome(left=f"a {file.path.rpartition('/')[2]} of something else")
    return FileOutcome(tuple(drafts))


def _is_server(entry: Mapping[str, Any]) -> bool:
    named = values.name(entry.get("name")) and values.text(entry.get("description"))
    stated = "modelcontextprotocol" in values.text(entry.get("$schema"))
    return bool(named) and (stated or any(isinstance(entry.get(key), list) for key in ("packages", "remotes")))


def _draft(entry: Mapping[str, Any]) -> Draft:
    full = values.name(entry["name"])
    name = full.rpartition("/")[2] or full
    about, title = values.text(entry["description"]), values.name(entry.get("title"))
    configured = next(_configurations(entry), None)
    made = servers.outcome({name: {**configured, "description": about}}).drafts[0] if configured else None
    draft = made or Draft(type=MCP_SERVER, name=name, description=about, body=about)
    kept = {key: entry[key] for key in _KEPT if key in entry}
    return dataclasses.replace(
        draft,
        anchor="",
        body="\n".join(dict.fromkeys(line for line in (title, draft.body, *_variables(entry)) if line)),
        digest=digest_of(repr(entry)),
        front_matter={**draft.front_matter, "registry_name": full, **kept},
        repository=repository_of(values.text(values.mapping(entry.get("repository")).get("url"))),
    )


def _configurations(entry: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield a client's configuration for each way to reach or start a server."""
    for remote in _items(entry, "remotes"):
        if url := values.text(remote.get("url")):
            kind = values.name(remote.get("type") or remote.get("transport_type"))
            yield {"type": "sse" if kind == "sse" else "http", "url": url, "headers": dict(_headers(remote))}
    for package in _items(entry, "packages"):
        kind = values.name(package.get("registryType") or package.get("registry_type") or package.get("registry_name"))
        name = values.name(package.get("identifier") or package.get("name"))
        runner = values.name(package.get("runtimeHint") or package.get("runtime_hint")) or _RUNNERS.get(kind, "")
        if name and runner:
            yield {
                "command": runner,
                "args": [*_BEFORE.get(runner, ()), name, *_arguments(package)],
                "env": {variable: f"${{{variable}}}" for variable, _ in _environment(package)},
            }


def _headers(remote: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield the headers that a remote server wants, with a placeholder where a person's own value belongs."""
    for item in _items(remote, "headers"):
        value = values.text(item.get("value"))
        if (name := _named(item)) and (value or item.get("isRequired") or item.get("isSecret")):
            yield name, _VARIABLE.sub(lambda match: f"<{match.group(1).upper()}>", value) or "<value>"


def _arguments(package: Mapping[str, Any]) -> Iterator[str]:
    for item in (*_items(package, "packageArguments"), *_items(package, "package_arguments")):
        name, value = _named(item), values.name(item.get("value") or item.get("default"))
        yield from (word for word in (name if name.startswith("-") else "", value) if word)


def _environment(package: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    for item in (*_items(package, "environmentVariables"), *_items(package, "environment_variables")):
        if name := _named(item):
            yield name, values.text(item.get("description"))[:200]


def _variables(entry: Mapping[str, Any]) -> Iterator[str]:
    for package in _items(entry, "packages"):
        for name, described in _environment(package):
            yield f"{name}: {described}" if described else ""


def _items(holder: Mapping[str, Any], key: str) -> list[Mapping[str, Any]]:
    listed = holder.get(key)
    return [values.mapping(item) for item in listed[:50]] if isinstance(listed, list) else []


def _named(item: Mapping[str, Any]) -> str:
    return values.name(item.get("name"))


STRATEGY = Strategy("registry_server", _claims, _extract)
