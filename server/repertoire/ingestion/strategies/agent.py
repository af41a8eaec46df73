"""Reads agents: Markdown in an `agents` folder, `*.agent.md`, or wherever a plugin's manifest lists them."""

from __future__ import annotations

from repertoire.domain.component import AGENT
from repertoire.ingestion import markdown
from repertoire.ingestion.parts import FileOutcome, SourceFile, SourceLayout, Strategy, in_folder, is_document, stem


def _claims(path: str, layout: SourceLayout) -> bool:
    if path.endswith(".agent.md") or layout.declared_type(path) == AGENT:
        return True
    return path.endswith(".md") and in_folder(path, "agents", "subagents") and not is_document(path)


def _extract(file: SourceFile, layout: SourceLayout) -> FileOutcome:
    found = markdown.outcome(file, AGENT, fallback_name=stem(file.path))
    # A skill keeps prompts for its own helpers in agents/: without a name of its own, such a file is a part of it.
    if layout.in_skill(file.path) and not {"name", "description"} <= set(found.drafts[0].front_matter):
        return FileOutcome()
    return found


STRATEGY = Strategy("agent", _claims, _extract)
