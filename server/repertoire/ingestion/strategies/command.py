"""Reads slash commands: Markdown in a `commands` folder, named by the file."""

from __future__ import annotations

import dataclasses

from repertoire.domain.component import COMMAND
from repertoire.ingestion import markdown
from repertoire.ingestion.parts import FileOutcome, SourceFile, SourceLayout, Strategy, in_folder, is_document, stem


def _claims(path: str, layout: SourceLayout) -> bool:
    if layout.declared_type(path) == COMMAND:
        return True
    return path.endswith(".md") and in_folder(path, "commands") and not is_document(path)


def _extract(file: SourceFile, layout: SourceLayout) -> FileOutcome:
    if layout.in_skill(file.path):
        return FileOutcome()
    found = markdown.outcome(file, COMMAND, fallback_name=stem(file.path))
    # Claude Code names a command by its file, whatever its front matter says.
    drafts = tuple(dataclasses.replace(draft, name=stem(file.path)) for draft in found.drafts)
    return dataclasses.replace(found, drafts=drafts)


STRATEGY = Strategy("command", _claims, _extract)
