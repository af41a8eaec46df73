"""Reads MCP servers of the Docker MCP registry: a `server.yaml`, with the tools listed beside it."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from shlex import quote
from typing import Any

from repertoire.domain.component import MCP_SERVER
from repertoire.ingestion import front_matter, servers, validation, values
from repertoire.ingestion.parts import Draft, Layout, Need, Outcome, SourceFile, Strategy

_KEPT = ("name", "image", "type", "meta", "about", "remote", "source")


def _claims(path: str, _: Layout) -> bool:
    return path.rpartition("/")[2] in ("server.yaml", "server.yml") and path.count("/") >= 1


def _extract(file: SourceFile, _: Layout) -> Outcome:
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
    return Outcome((draft,), (warning,) if warning else ())


def _needs(valid: Mapping[str, Any], remote: str) -> Iterator[Need]:
    if not remote:
        yield Need("binary", "docker", 0.9, "server.yaml")
    config = values.mapping(valid.get("config"))
    for key in ("secrets", "env"):
        listed = config.get(key)
        for item in listed if isinstance(listed, list) else ():
            variable = values.name(values.mapping(item).get("env") or values.mapping(item).get("name"))
            if variable and variable.upper() == variable:
                yield Need("env", variable, 0.9, f"server.yaml {key}")


def _tools(source: str) -> tuple[str, str, str]:
    """Return the signatures of the tools, a line on each, and a warning where the list cannot be read."""
    if not source:
        return "", "", ""
    try:
        found = json.loads(source)  # not bounded by number of values: a server may list hundreds of tools
    except (ValueError, RecursionError):
        return "", "", "tools.json is not JSON"
    tools = [tool for tool in found if isinstance(tool, Mapping)] if isinstance(found, list) else []
    signatures, lines = [], []
    for tool in tools[:200]:
        name, described = values.name(tool.get("name")), values.text(tool.get("description"))
        arguments = ", ".join(_arguments(tool))
        signatures.append(f"{name}({arguments})")
        lines.append(f"- {name}: {described[:200]}" if described else f"- {name}")
    return "\n".join(signatures)[:4_000], "\n".join(lines)[:20_000], ""


def _arguments(tool: Mapping[str, Any]) -> Iterator[str]:
    listed = tool.get("arguments")
    for item in listed[:20] if isinstance(listed, list) else ():
        argument = values.mapping(item)
        yield f"{values.name(argument.get('name'))}: {values.name(argument.get('type')) or 'any'}"
    properties = values.mapping(values.mapping(tool.get("inputSchema")).get("properties"))
    for name, schema in list(properties.items())[:20]:
        yield f"{values.name(name)}: {values.name(values.mapping(schema).get('type')) or 'any'}"


STRATEGY = Strategy("docker_server", _claims, _extract, beside=("tools.json",))
