"""Reads what shapes every answer: output styles, rules, and guidance that is offered as a template."""

from __future__ import annotations

import dataclasses

from repertoire.domain.component import SETTING
from repertoire.ingestion import markdown
from repertoire.ingestion.parts import (
    FileOutcome,
    SourceFile,
    SourceLayout,
    Strategy,
    folder,
    in_folder,
    is_document,
    stem,
)

STYLES = ("output-styles", "output_styles")
_GUIDANCE = ("AGENTS.md", "CLAUDE.md", "GEMINI.md", ".cursorrules", ".windsurfrules", ".clinerules")
_OFFERED = ("agents-md", "claude-md", "examples", "guidance", "rules", "samples", "templates")
_OF_CLIENTS = (".claude", ".cursor", ".windsurf", ".clinerules", ".kiro")


def _claims(path: str, layout: SourceLayout) -> bool:
    if layout.in_skill(path):
        return False
    base = path.rpartition("/")[2]
    if base in _GUIDANCE:
        return True
    return (
        base.endswith(".md") and not is_document(path) and (in_folder(path, *STYLES) or _is_rule(path, layout))
    ) or (base.endswith(".mdc") and in_folder(path, "rules"))


def _is_rule(path: str, layout: SourceLayout) -> bool:
    """Tell whether Markdown lies where rules do: those of a linter are documented in folders called so, too."""
    if not in_folder(path, "rules", "steering"):
        return False
    plugin = layout.plugin_of(path)
    root = f"{plugin.root}/rules/" if plugin is not None and plugin.root else "rules/"
    return path.startswith(root) or in_folder(path, *_OF_CLIENTS)


def _extract(file: SourceFile, _: SourceLayout) -> FileOutcome:
    base = file.path.rpartition("/")[2]
    if base not in _GUIDANCE:
        return markdown.outcome(file, SETTING, fallback_name=stem(file.path).removesuffix(".mdc"))
    if not in_folder(file.path, *_OFFERED):
        return FileOutcome(left="guidance for this source itself")
    above = folder(file.path).rpartition("/")[2]
    found = markdown.outcome(file, SETTING, fallback_name=above)
    return dataclasses.replace(found, drafts=(dataclasses.replace(found.drafts[0], name=above),))


STRATEGY = Strategy("guidance", _claims, _extract)
