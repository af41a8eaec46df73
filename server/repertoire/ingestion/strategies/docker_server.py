"""Reads MCP servers of the Docker MCP registry: a `server.yaml`, with a list of tools beside it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from shlex import quote
from typing import Any

from repertoire.domain.component import MCP_SERVER
from repertoire.ingestion import front_matter, servers, tool_lists, validation, values
from repertoire.ingestion.parts import ComponentRequirement, Draft, FileOutcome, SourceFile, SourceLayout, Strategy
from repertoire.ingestion.values import Unusable

_PARAMETER = re.compile(r"\{\{ *[\w-]+\.([\w-]+)")  # in a value: `{{redis.host}}`, `{{atlassian.jira.url}}`
_KEPT = ("name", "image", "type", "meta", "about", "remote", "source")


def _claims(path: str, _: SourceLayout) -> bool:
    return path.rpartition("/")[2] in ("server.yaml", "server.yml") and path.count("/") >= 1


def _extract(file: SourceFile, _: SourceLayout) -> FileOutcome:
    valid = validation.require("server_yaml", front_matter.read_yaml(file.text))
    name = values.name(valid["name"])
    about, meta = values.mapping(valid.get("about")), values.mapping(valid.get("meta"))
    title, described = values.name(about.get("title")), values.text(about.get("description"))
    signatures, tool_lines, warning = _tools(file.companions.get("tools.json", ""))
    names = [line.partition("(")[0] for line in signatures.splitlines()]
    remote = servers.public_url(values.text(values.mapping(valid.get("remote")).get("url")))
    draft = Draft(
        type=MCP_SERVER,
        name=name,
        description=described or f"MCP server for {title or name}" + (f": {', '.join(names[:12])}" if names else ""),
        body="\n".join(line for line in (title, described, tool_lines) if line),
        digest=file.digest,
        front_matter={key: valid[key] for key in _KEPT if key in valid},
        signatures=signatures,
        tags=(*values.words(meta.get("tags")), values.name(meta.get("category"))),
        needs=tuple(_needs(valid, remote)),
        install=(f"docker mcp server enable {quote(name)}",),
    )
    return FileOutcome((draft,), (warning,) if warning else ())


def _needs(valid: Mapping[str, Any], remote: str) -> Iterator[ComponentRequirement]:
    if not remote:
        yield ComponentRequirement("binary", "docker", 0.9, "server.yaml")
    config = values.mapping(valid.get("config"))
    required = values.words(values.mapping(config.get("parameters")).get("required"))
    for key in ("secrets", "env"):
        listed = config.get(key)
        for item in map(values.mapping, listed if isinstance(listed, list) else ()):
            variable = values.name(item.get("env") or item.get("name"))
            if variable and variable.upper() == variable and _is_asked(item, required):
                # Docker keeps it and hands it to the container, so the environment does not tell whether it is set
                yield ComponentRequirement("setting", variable, 0.9, f"server.yaml {key}")


def _is_asked(item: Mapping[str, Any], required: Sequence[str]) -> bool:
    """Tell whether a person has to give a value: the file has none, and requires the parameter that it comes from."""
    if isinstance(item.get("required"), bool):
        return bool(item["required"])
    value = "" if item.get("value") is None else str(item["value"])
    parameter = _PARAMETER.search(value)
    return parameter.group(1) in required if parameter else not value


def _tools(source: str) -> tuple[str, str, str]:
    """Return three texts: the tools' signatures, a line on each, and a warning if the list cannot be read."""
    if not source:
        return "", "", ""
    try:
        tools = tool_lists.read(source)[:200]
    except Unusable as error:
        return "", "", f"tools.json is {error}"
    lines = [f"- {tool.name}: {tool.description[:200]}" if tool.description else f"- {tool.name}" for tool in tools]
    return "\n".join(tool.signature for tool in tools)[:4_000], "\n".join(lines)[:20_000], ""


STRATEGY = Strategy("docker_server", _claims, _extract, beside=("tools.json",))
