"""Reads `tools.json`: each listed tool is a component, and a part of the server beside it."""

from __future__ import annotations

from shlex import quote

from repertoire.domain.component import TOOL
from repertoire.domain.digest import digest_of
from repertoire.ingestion import front_matter, tool_lists, values
from repertoire.ingestion.parts import Draft, FileOutcome, SourceFile, SourceLayout, Strategy, folder
from repertoire.ingestion.tool_lists import ToolEntry
from repertoire.ingestion.values import Unusable

_SERVERS = ("server.yaml", "server.yml", "server.json")
_SHOWN = 20_000


def _claims(path: str, layout: SourceLayout) -> bool:
    return path.rpartition("/")[2] == "tools.json" and not layout.in_skill(path)


def _extract(file: SourceFile, layout: SourceLayout) -> FileOutcome:
    above = folder(file.path)
    beside = next((name for name in _SERVERS if name in file.companions), "")
    server = f"{above}/{beside}".lstrip("/") if beside else ""
    try:
        tools = tool_lists.read(file.text)
    except Unusable:
        if server:
            raise
        return FileOutcome(left="a tools.json of something else")
    if not tools:
        return FileOutcome(part_of=server) if server else FileOutcome(left="lists no tool")
    owner = _name(file.companions[beside]) if beside.startswith("server.y") else ""
    install = (f"docker mcp server enable {quote(owner)}",) if owner else ()
    owner = owner or above.rpartition("/")[2] or layout.name
    return FileOutcome(tuple(_draft(tool, owner, server, install) for tool in tools))


def _name(source: str) -> str:
    try:
        return values.name(front_matter.read_yaml(source).get("name"))
    except Unusable:
        return ""


def _draft(tool: ToolEntry, owner: str, server: str, install: tuple[str, ...]) -> Draft:
    lines = [f"- {name} ({kind}): {described}" for name, kind, described in tool.arguments if described]
    body = "\n".join(line for line in (tool.description, f"A tool of {owner}.", *lines) if line)
    return Draft(
        type=TOOL,
        name=tool.name,
        description=tool.description or f"Tool {tool.name} of {owner}",
        body=body[:_SHOWN],
        anchor=tool.name,
        digest=digest_of(f"{owner}\n{tool.signature}\n{body}"),
        front_matter={"tool_of": owner, "arguments": [name for name, _, _ in tool.arguments]},
        signatures=tool.signature,
        install=install,
        part_of=server,
    )


STRATEGY = Strategy("tool_list", _claims, _extract, beside=_SERVERS)
