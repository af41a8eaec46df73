"""Reads the plugins in a `marketplace.json` without a manifest in the source, and parts in its entries."""

from __future__ import annotations

from dataclasses import replace

from repertoire.domain.digest import digest_of
from repertoire.ingestion import manifests
from repertoire.ingestion.parts import Draft, FileOutcome, PluginFacts, SourceFile, SourceLayout, Strategy
from repertoire.ingestion.values import Unusable


def _claims(path: str, _: SourceLayout) -> bool:
    return path.endswith(".claude-plugin/marketplace.json") or path == "marketplace.json"


def _extract(file: SourceFile, layout: SourceLayout) -> FileOutcome:
    entries = manifests.marketplace_entries(file.path, file.text)  # raises Unusable with the fault
    if not entries:
        message = "lists no plugins"
        raise Unusable(message)
    drafts: list[Draft] = []
    warnings: list[str] = []
    for entry in entries:
        if entry.refused:
            warnings.append(f"{entry.name}: {entry.refused}")
            continue
        facts = layout.plugin_in(entry.root, entry.name) if entry.local else None
        facts = facts if facts is not None else entry.facts()
        if entry.local:
            inline = _inline(entry, facts)
            drafts.extend(inline.drafts)
            warnings.extend(inline.warnings)
            if facts.manifest != file.path:
                continue  # its own plugin.json describes it
        if entry.name not in layout.elsewhere:
            described = facts if facts.shares else entry.facts()
            drafts.append(manifests.plugin_draft(described, digest=digest_of(repr(entry))))
    return FileOutcome(
        tuple(drafts),
        tuple(warnings),
        left="" if drafts or warnings else "every plugin that it lists is described by itself",
    )


def _inline(entry: manifests.ListedPlugin, facts: PluginFacts) -> FileOutcome:
    """Return the parts that are written in an entry itself; their path is the plugin's folder."""
    data = dict(entry.data)
    if facts.manifest.endswith(manifests.OWN):  # beside it, Claude Code starts no server that an entry lists
        data.pop("mcpServers", None)
    try:
        inline = manifests.inline_drafts(data, facts)
    except Unusable as error:
        return FileOutcome(warnings=(f"{entry.name}: {error}",))
    place = entry.root or "."
    drafts = (replace(one, path=place, anchor=f"{facts.name}.{one.anchor}") for one in inline.drafts)
    return FileOutcome(tuple(drafts), inline.warnings)


STRATEGY = Strategy("marketplace", _claims, _extract)
