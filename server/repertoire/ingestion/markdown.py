"""Makes the draft of a component that is a Markdown file with front matter."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from repertoire.domain.component import MCP_SERVER, OPTIONAL_WEIGHT
from repertoire.ingestion import front_matter, prose, requirements, validation, values
from repertoire.ingestion.parts import OPTIONAL_SERVER, ComponentRequirement, Draft, FileOutcome, SourceFile
from repertoire.ingestion.values import Unusable

_TAG_KEYS = ("tags", "keywords", "category", "categories", "domain", "topics")


def outcome(file: SourceFile, kind: str, *, fallback_name: str) -> FileOutcome:
    """Return the draft of a Markdown component, with what had to be tolerated.

    Raises:
        Unusable: it says nothing.
    """
    document = front_matter.split(file.text)
    header, faults = validation.tolerate(kind, document.front_matter)
    description = _description(header)
    if not description and not document.body:
        message = "empty"
        raise Unusable(message)
    tools = _tools(header)
    draft = Draft(
        type=kind,
        name=values.name(header.get("name")) or fallback_name,
        description=description or _late_description(document.body) or prose.first_paragraph(document.body),
        body=document.body,
        digest=file.digest,
        front_matter=header,
        tools=tools,
        tags=tuple(_tags(header)),
        needs=tuple(_needs(header, tools, document.body)),
        licence=values.name(header.get("license")),
    )
    warnings = (*((document.warning,) if document.warning else ()), *faults)
    return FileOutcome((draft,), warnings)


def _needs(header: Mapping[str, Any], tools: Sequence[str], body: str) -> Iterator[ComponentRequirement]:
    """Yield what front matter requires; the servers as optional where only a tool is allowed, or a heading says so."""
    found = (*requirements.of_tools(tools), *requirements.of_front_matter(header))
    optional = any(
        line.startswith("#") and "mcp" in line and "optional" in line for line in map(str.lower, body.splitlines())
    )
    required = {need.name for need in found if need.kind == MCP_SERVER and not optional}
    for need in found:
        if need.kind not in (MCP_SERVER, OPTIONAL_SERVER):
            yield need
        elif need.name not in required:
            yield replace(need, kind=OPTIONAL_SERVER, weight=OPTIONAL_WEIGHT)
        elif need.kind == MCP_SERVER:
            yield need


def _description(header: Mapping[str, Any]) -> str:
    pieces = [values.text(header.get("description")), values.text(header.get("when_to_use"))]
    return "\n".join(piece for piece in pieces if piece)[: prose.DESCRIPTION_LIMIT]


def _late_description(body: str) -> str:
    """Return the description in front matter behind a comment, which Claude Code does not take for front matter."""
    below = body.partition("-->")[2] if body.startswith("<!--") else ""
    return _description(front_matter.split(below).front_matter)


def _tools(header: Mapping[str, Any]) -> tuple[str, ...]:
    for key in ("allowed-tools", "tools", "allowed_tools"):
        value = header.get(key)
        if isinstance(value, Mapping):  # opencode: a switch for each tool
            return tuple(str(tool) for tool, on in value.items() if on is True)
        if value:
            return requirements.tool_list(value)
    return ()


def _tags(header: Mapping[str, Any]) -> Iterator[str]:
    for holder in (header, values.mapping(header.get("metadata"))):
        for key in _TAG_KEYS:
            yield from values.words(holder.get(key))
