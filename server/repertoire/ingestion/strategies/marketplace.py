"""Reads the plugins in a `marketplace.json` that have no manifest in the source, remote ones included."""

from __future__ import annotations

from repertoire.ingestion import manifests
from repertoire.ingestion.parts import FileOutcome, SourceFile, SourceLayout, Strategy, entry_digest
from repertoire.ingestion.values import Unusable


def _claims(path: str, _: SourceLayout) -> bool:
    return path.endswith(".claude-plugin/marketplace.json") or path == "marketplace.json"


def _extract(file: SourceFile, layout: SourceLayout) -> FileOutcome:
    entries = manifests.marketplace_entries(file.path, file.text)  # raises Unusable with the fault
    if not entries:
        message = "lists no plugins"
        raise Unusable(message)
    drafts = []
    for entry in entries:
        if entry.local and entry.root in layout.plugins and layout.plugins[entry.root].manifest != file.path:
            continue  # its own plugin.json describes it
        if entry.name not in layout.elsewhere:
            drafts.append(manifests.plugin_draft(entry.facts(), digest=entry_digest(repr(entry))))
    return FileOutcome(tuple(drafts), left="" if drafts else "every plugin that it lists is described by itself")


STRATEGY = Strategy("marketplace", _claims, _extract)
