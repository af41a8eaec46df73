"""Reads agents and commands that lie in no folder of their kind: front matter tells what they are."""

from __future__ import annotations

from repertoire.domain.component import AGENT, COMMAND
from repertoire.ingestion import front_matter, markdown
from repertoire.ingestion.parts import FileOutcome, SourceFile, SourceLayout, Strategy, is_document, stem

_OF_AGENTS = frozenset(("tools", "model", "color"))
_OF_COMMANDS = frozenset(("allowed-tools", "argument-hint"))

_NEITHER = "Markdown without the front matter of an agent or a command"


def _claims(path: str, layout: SourceLayout) -> bool:
    return path.endswith(".md") and not is_document(path) and not layout.in_skill(path)


def _extract(file: SourceFile, _: SourceLayout) -> FileOutcome:
    if not file.text.startswith("---"):
        return FileOutcome(left=_NEITHER)
    keys = set(front_matter.split(file.text).front_matter)
    if {"name", "description"} <= keys and keys & _OF_AGENTS:
        return markdown.outcome(file, AGENT, fallback_name=stem(file.path))
    if "description" in keys and keys & _OF_COMMANDS and "name" not in keys:
        return markdown.outcome(file, COMMAND, fallback_name=stem(file.path))
    return FileOutcome(left=_NEITHER)


STRATEGY = Strategy("loose", _claims, _extract)
