"""Reads skills: a folder with a SKILL.md, everything beside it a part of it."""

from __future__ import annotations

from repertoire.domain.component import SKILL
from repertoire.ingestion import markdown
from repertoire.ingestion.parts import Layout, Outcome, SourceFile, Strategy, folder


def _claims(path: str, _: Layout) -> bool:
    return path.rpartition("/")[2].lower() == "skill.md"


def _extract(file: SourceFile, layout: Layout) -> Outcome:
    fallback = folder(file.path).rpartition("/")[2] or layout.name
    return markdown.outcome(file, SKILL, fallback_name=fallback)


STRATEGY = Strategy("skill", _claims, _extract)
