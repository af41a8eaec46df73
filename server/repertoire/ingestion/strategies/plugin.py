"""Reads plugins from their `plugin.json`, with the MCP servers, hooks and commands in it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from repertoire.domain.component import COMMAND
from repertoire.domain.digest import digest_of
from repertoire.ingestion import manifests, prose, values
from repertoire.ingestion.parts import Draft, FileOutcome, SourceFile, SourceLayout, Strategy
from repertoire.ingestion.values import Unusable

_DIALECTS = ("https://json-schema.org/", "http://json-schema.org/")  # an editor's hint in a manifest leads elsewhere


def _claims(path: str, _: SourceLayout) -> bool:
    base = path.rpartition("/")[2]
    return base == "plugin.json" and (path.endswith(".claude-plugin/plugin.json") or "/." not in f"/{path}")


def _extract(file: SourceFile, layout: SourceLayout) -> FileOutcome:
    root = manifests.plugin_root(file.path)
    facts = layout.plugins.get(root)
    if facts is None and _is_schema(file):
        return FileOutcome(left="a JSON Schema, which describes manifests and is none")
    if facts is None:
        raise Unusable(manifests.fault(file.text))
    if facts.manifest != file.path:  # .claude-plugin/plugin.json is the one that Claude Code reads
        return FileOutcome(part_of=facts.manifest)
    data = values.mapping(values.parse_json(file.text))
    inline = manifests.inline_drafts(data, facts)
    drafts = (manifests.plugin_draft(facts, digest=file.digest), *inline.drafts, *_commands(data))
    return FileOutcome(drafts, inline.warnings)


def _commands(data: Mapping[str, Any]) -> Iterator[Draft]:
    """Yield the commands whose text is written in the manifest itself; Claude Code reads none in a marketplace."""
    for key, item in values.mapping(data.get("commands")).items():
        name, text = values.name(key), values.text(values.mapping(item).get("content"))
        if name and text:
            described = values.text(values.mapping(item).get("description")) or prose.first_paragraph(text)
            digest = digest_of(f"{described}\n{text}")
            yield Draft(COMMAND, name, described, text, anchor=f"commands.{name}", digest=digest)


def _is_schema(file: SourceFile) -> bool:
    """Tell whether a file is a JSON Schema by its own word; where only manifests lie, none is taken for one."""
    if file.path.endswith(".claude-plugin/plugin.json"):
        return False
    dialect = values.mapping(values.parse_json(file.text)).get("$schema")
    return isinstance(dialect, str) and dialect.startswith(_DIALECTS)


STRATEGY = Strategy("plugin", _claims, _extract)
