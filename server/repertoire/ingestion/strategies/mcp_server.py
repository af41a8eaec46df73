"""Reads MCP servers from `.mcp.json`, `mcp.json`, JSON in an `mcps` folder, or where a plugin's manifest points."""

from __future__ import annotations

from repertoire.domain.component import MCP_SERVER
from repertoire.ingestion import dependencies, servers, values
from repertoire.ingestion.parts import FileOutcome, SourceFile, SourceLayout, Strategy, in_folder
from repertoire.ingestion.values import Unusable

_NAMES = (
    ".claude.json",
    ".mcp.json",
    "mcp.json",
    "claude_desktop_config.json",
    "mcp-config.json",
    "mcp-servers.json",
    "mcp_servers.json",
)


def _claims(path: str, layout: SourceLayout) -> bool:
    base = path.rpartition("/")[2]
    if base in _NAMES or layout.declared_type(path) == MCP_SERVER:
        return True
    return base.endswith(".json") and in_folder(path, "mcps", "mcp-configs") and base != "package.json"


def _extract(file: SourceFile, layout: SourceLayout) -> FileOutcome:
    found = servers.servers_in(values.parse_json(file.text))
    if not found:
        message = "lists no MCP server"
        raise Unusable(message)
    return servers.outcome(found, plugin=layout.plugin_of(file.path), beside=file.companions)


STRATEGY = Strategy("mcp_server", _claims, _extract, beside=dependencies.FILES)
